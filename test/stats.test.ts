import { setTimeout } from "node:timers/promises";
import t from "tap";
import { signIn } from "./signed-in.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 120_000 };
t.comment("timeout=120000");

interface Stats {
  readonly endTimestamp: number;
  readonly interval: number;
  readonly stats: Readonly<Record<string, unknown>>;
}

/** Repeats until the statistics are as expected; polled data arrives with a delay. */
async function until<T>(
  read: () => Promise<unknown>,
  isRight: (answer: T) => boolean,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    const answer = (await read()) as T;
    if (isRight(answer) || tries === 100) return answer;
    await setTimeout(200);
  }
}

t.test("statistics of a simulated pool", LIMIT, async (t) => {
  const size = ["--hosts", "2", "--vms", "6", "--members", "1"];
  const { request, read } = await signIn(t, ...size);
  const hosts = (await read("/hosts?fields=*")) as {
    id: string;
    memory: { size: number };
    cpus: { cores: number };
  }[];
  t.equal(hosts.length, 2);
  for (const { id, memory, cpus } of hosts) {
    const { endTimestamp, interval, stats } = await until<Stats>(
      () => read(`/hosts/${id}/stats`),
      (one) => (one.stats["memory"] as number[] | undefined)?.length === 120,
    );
    t.equal(interval, 5);
    t.ok(Math.abs(endTimestamp - Date.now() / 1000) < 60);
    t.equal(Object.keys(stats["cpus"] as object).length, cpus.cores);
    const bytes = stats["memory"] as number[];
    t.equal(bytes.length, 120);
    t.ok(Math.abs(bytes.at(-1)! - memory.size) < 2 ** 30, "in bytes");
  }
  const expected = {
    seconds: [5, 120],
    minutes: [60, 120],
    hours: [3600, 168],
    days: [86_400, 366],
  } as const;
  for (const [name, [interval, points]] of Object.entries(expected)) {
    const path = `/hosts/${hosts[0]!.id}/stats?granularity=${name}`;
    const host = (await read(path)) as Stats;
    t.equal(host.interval, interval, name);
    t.equal((host.stats["memory"] as number[]).length, points, name);
  }

  const vms = (await read("/vms?fields=*&filter=power_state:Running")) as {
    id: string;
  }[];
  const vm = await until<Stats>(
    () => read(`/vms/${vms[0]!.id}/stats`),
    (one) => (one.stats["cpuUsage"] as number[] | undefined)?.length === 120,
  );
  t.equal(vm.interval, 5);
  for (const name of ["cpus", "cpuUsage", "memory", "memoryFree", "vifs"])
    t.ok(name in vm.stats, name);
  t.equal((vm.stats["cpuUsage"] as unknown[]).length, 120);

  const source = `/vms/${vms[0]!.id}/stats/data_source`;
  const put = async (name: string) =>
    (await request(`${source}/${name}`, { method: "PUT" })).status;
  t.equal(await put("cpu0"), 204);
  t.equal(await put("nothing"), 500, "XAPI knows no such thing");

  const [pool] = (await read("/pools?fields=*")) as { id: string }[];
  const ofPool = (await read(`/pools/${pool!.id}/stats`)) as Record<
    string,
    Stats
  >;
  t.same(Object.keys(ofPool).toSorted(), hosts.map(({ id }) => id).toSorted());
  for (const one of Object.values(ofPool)) t.equal(one.interval, 5);

  const [halted] = (await read("/vms?fields=*&filter=power_state:Halted")) as {
    id: string;
  }[];
  const past = (await read(
    `/vms/${halted!.id}/stats?granularity=hours`,
  )) as Stats;
  const memory = past.stats["memory"] as (number | null)[];
  t.ok(
    memory.some((value) => value !== null),
    "what was when it ran",
  );
});

t.test("latest metrics are shown in lists", LIMIT, async (t) => {
  const size = ["--hosts", "2", "--vms", "6", "--members", "1"];
  const { read } = await signIn(t, ...size);
  interface Measured {
    readonly id: string;
    readonly now?: Readonly<Record<string, number>>;
  }
  const isKnown = (all: readonly Measured[]) =>
    all.length > 0 && all.every(({ now }) => now !== undefined);
  const hosts = await until<Measured[]>(
    () => read("/hosts?fields=id,now"),
    isKnown,
  );
  t.equal(hosts.length, 2);
  const vms = await until<Measured[]>(
    () => read("/vms?fields=id,now&filter=power_state:Running"),
    isKnown,
  );
  for (const { id, now = {} } of [...hosts, ...vms]) {
    t.ok(now["cpu"]! >= 0 && now["cpu"]! <= 1, `${id}: ${now["cpu"]}`);
    t.ok(now["memory"]! > 2 ** 20, id);
    t.ok(now["network"]! >= 0, id);
  }
  t.ok(
    vms.some(({ now }) => now!["disk"]! > 0),
    "VMs have disks",
  );
  const busy = (await read("/vms?fields=id&filter=now.cpu:>0")) as Measured[];
  t.same(
    busy.map(({ id }) => id).toSorted(),
    vms.map(({ id }) => id).toSorted(),
    "filters know them",
  );
});
