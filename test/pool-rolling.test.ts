import t from "tap";
import type { Simulated } from "./simulated.js";
import {
  startStorageBench,
  type Row,
  type StorageBench,
} from "./storage-bench.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=480000");

const SIZE = ["--hosts", "3", "--vms", "4", "--seed", "3", "--pace", "0.1"];

interface Part {
  readonly status: string;
  readonly properties: { readonly name: string };
  readonly tasks?: readonly Part[];
}

interface Task extends Part {
  readonly result?: {
    readonly message?: string;
    readonly code?: string;
    readonly data?: Readonly<Record<string, unknown>>;
  };
  readonly infos: readonly { readonly message: string }[];
  readonly warnings: readonly { readonly message: string }[];
}

async function roll(
  { admin, list }: StorageBench,
  body: object = {},
): Promise<Task> {
  const [pool] = await list("pools");
  const path = `/pools/${pool!.id}/actions/rolling_reboot`;
  const begun = await admin.rest("POST", path, body);
  const { taskId } = begun.body as { taskId?: string };
  if (taskId === undefined) throw new Error(JSON.stringify(begun.body));
  return (await admin.rest("GET", `/tasks/${taskId}?wait=true`)).body;
}

/** State of the pool: starts of hosts, and the hosts of VMs. */
async function lookAt({ list }: StorageBench) {
  const hosts = await list("hosts");
  const vms = await list("vms", "power_state:Running");
  const [pool] = await list("pools");
  return {
    pool: pool!,
    hosts,
    starts: new Map(hosts.map(({ id, ...host }) => [id, host["startTime"]])),
    places: Object.fromEntries(vms.map((vm) => [vm.id, vm["$container"]])),
  };
}

async function failNext({ url }: Simulated, failure: object): Promise<void> {
  const body = JSON.stringify(failure);
  const answer = await fetch(`${url}/sim/fail`, { method: "POST", body });
  if (!answer.ok) throw new Error(await answer.text());
}

function namesOf(parts: readonly Part[] = []): string[] {
  return parts.map(({ properties }) => properties.name);
}

t.test("a pool is rebooted, and is as it was before", LIMIT, async (t) => {
  const bench = await startStorageBench(t, ...SIZE);
  const { admin, list } = bench;
  const [{ id: pool }] = (await list("pools")) as [Row];
  const [sr] = await list("srs", "shared? content_type:user");
  await admin.request("pool.set", { id: pool, auto_poweron: true });
  await admin.request("pool.enableHa", { pool, heartbeatSrs: [sr!.id] });
  const before = await lookAt(bench);
  t.match(before.pool, { HA_enabled: true, auto_poweron: true });

  // Either may arrive first.
  const both = await Promise.all([roll(bench), roll(bench)]);
  const task = both.find(({ status }) => status === "success")!;
  t.ok(task, JSON.stringify(both));
  t.match(
    both.find((one) => one !== task),
    {
      status: "failure",
      result: { code: "INCORRECT_STATE", data: { object: pool } },
    },
  );
  const after = await lookAt(bench);
  t.match(after.pool, { HA_enabled: true, auto_poweron: true });
  for (const [host, start] of before.starts)
    t.ok(Number(after.starts.get(host)) > Number(start), "rebooted");
  t.same(after.places, before.places, "VMs are where they were");
  const steps = task.tasks!.filter(({ properties }) =>
    properties.name.startsWith("reboot"),
  );
  t.equal(steps.length, 3);
  t.equal(
    steps[0]!.properties.name,
    `reboot ${String(before.hosts.find(({ id }) => id === before.pool["master"])!["name_label"])}`,
    "the coordinator first",
  );
  for (const { tasks } of steps)
    t.same(namesOf(tasks), [
      "evacuate",
      "reboot",
      "wait for the host",
      "verify the host",
    ]);
});

t.test(
  "it stops at the first failure, and resumes from there",
  LIMIT,
  async (t) => {
    const bench = await startStorageBench(t, ...SIZE);
    const before = await lookAt(bench);
    const [second] = before.hosts
      .filter(({ id }) => id !== before.pool["master"])
      .map(({ id }) => id)
      .sort();
    await failNext(bench.pool, {
      method: "host.reboot",
      error: "INTERNAL_ERROR",
      params: ["the BMC is silent"],
      object: before.hosts.find(({ id }) => id === second)!["_xapiRef"],
    });
    const stopped = await roll(bench);
    t.match(stopped, {
      status: "failure",
      result: {
        code: "STOPPED_MIDWAY",
        data: { where: /: reboot$/, cause: { code: "INTERNAL_ERROR" } },
      },
    });
    const { done, left } = stopped.result!.data as Record<string, string[]>;
    t.ok(left!.includes(second!));
    t.equal(done!.length + left!.length, 3);
    t.notSame(done, [], "the coordinator was done");
    await bench.untilGone("hosts", "!enabled?");
    const between = await lookAt(bench);
    for (const { id } of between.hosts) {
      const isDone = between.starts.get(id) !== before.starts.get(id);
      t.equal(isDone, done!.includes(id));
    }

    const task = await roll(bench);
    t.equal(task.status, "success", JSON.stringify(task));
    t.match(task.infos, [{ message: /^resumes the rolling reboot of/ }]);
    const after = await lookAt(bench);
    for (const id of done!)
      t.equal(after.starts.get(id), between.starts.get(id), "not once more");
    for (const id of left!)
      t.not(after.starts.get(id), before.starts.get(id), "now");
    t.same(after.places, before.places, "VMs are where they were at first");

    await failNext(bench.pool, { method: "host.evacuate", error: "SR_FULL" });
    t.match(await roll(bench), {
      result: {
        code: "STOPPED_MIDWAY",
        data: { where: /evacuate$/, done: [] },
      },
    });
    await bench.untilGone("hosts", "!enabled?");
    const repeated = await roll(bench, { resume: false });
    t.equal(repeated.status, "success", JSON.stringify(repeated));
    t.same(
      repeated.infos.filter(({ message }) => /goes on/.test(message)),
      [],
    );
  },
);

t.test(
  "VMs that cannot be evacuated are reported before the start",
  LIMIT,
  async (t) => {
    const bench = await startStorageBench(t, ...SIZE);
    const { admin } = bench;
    const before = await lookAt(bench);
    const [vm] = Object.keys(before.places);
    await admin.request("vm.set", {
      id: vm,
      blockedOperations: { pool_migrate: "it holds a dongle" },
    });
    const refused = await roll(bench);
    t.match(refused, {
      status: "failure",
      result: {
        code: "VMS_CANNOT_LEAVE",
        data: {
          count: 1,
          vms: [
            {
              id: vm,
              host: before.places[vm!],
              code: "OPERATION_BLOCKED",
              params: [String, "it holds a dongle"],
            },
          ],
        },
      },
    });
    t.same((await lookAt(bench)).starts, before.starts, "nothing was done");
    const task = await roll(bench, { shutdownPinnedVms: true });
    t.equal(task.status, "success", JSON.stringify(task));
    const pinned = task.tasks!.find(({ tasks = [] }) =>
      namesOf(tasks).includes("shut down VMs that cannot leave"),
    );
    t.same(namesOf(pinned?.tasks), [
      "shut down VMs that cannot leave",
      "evacuate",
      "reboot",
      "wait for the host",
      "verify the host",
      "start the VMs that were shut down",
    ]);
    t.same((await lookAt(bench)).places, before.places);
  },
);

t.test("without the right a pool is not rebooted", LIMIT, async (t) => {
  const bench = await startStorageBench(t, ...SIZE);
  const [{ id: pool }] = (await bench.list("pools")) as [Row];
  const eve = await bench.addUser("eve", { [pool]: "operator" });
  const path = `/pools/${pool}/actions/rolling_reboot`;
  t.equal((await eve.rest("POST", path, {})).status, 403);
  t.match(await eve.call("pool.rollingReboot", { pool }), {
    error: { code: 2 },
  });
});
