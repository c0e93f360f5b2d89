import { gunzipSync } from "node:zlib";
import t from "tap";
import { signIn } from "./signed-in.js";

// Real programs on a busy machine. The runner reads the limit of a file, in ms, from a comment.
const LIMIT = { timeout: 240_000 };
t.comment("timeout=240000");

interface Host {
  readonly id: string;
  readonly enabled: boolean;
  readonly power_state: string;
  readonly startTime: number;
  readonly residentVms: readonly string[];
  readonly controlDomain: string;
}

interface Vm {
  readonly id: string;
  readonly power_state: string;
  readonly $container: string;
}

const SIZE = ["--hosts", "3", "--vms", "4", "--members", "2", "--seed", "3"];

t.test("hosts are emptied, rebooted and forgotten", LIMIT, async (t) => {
  const { request, read, act } = await signIn(t, ...SIZE);
  const hostsNow = async () => (await read("/hosts?fields=*")) as Host[];
  const hostNow = async (id: string) => (await read(`/hosts/${id}`)) as Host;
  const running = async () =>
    (await read("/vms?fields=*&filter=power_state:Running")) as Vm[];
  const [pool] = (await read("/pools?fields=*")) as {
    id: string;
    master: string;
  }[];
  const hosts = await hostsNow();
  const member = hosts.find(({ id }) => id !== pool!.master)!;

  const disabled = await act(`/hosts/${member.id}/actions/disable`, {
    evacuate: true,
  });
  t.equal(disabled.status, "success", JSON.stringify(disabled.result));
  const empty = await hostNow(member.id);
  t.equal(empty.enabled, false);
  t.same(empty.residentVms, [empty.controlDomain], "its VMs are elsewhere");
  t.match(await act(`/hosts/${member.id}/actions/enable`), {
    status: "success",
  });
  t.equal((await hostNow(member.id)).enabled, true);

  const before = await running();
  const smart = before[0]!.$container;
  const { startTime } = await hostNow(smart);
  const rebooted = await act(`/hosts/${smart}/actions/smart_reboot`);
  t.equal(rebooted.status, "success", JSON.stringify(rebooted.result));
  t.ok((await hostNow(smart)).startTime > startTime);
  t.same(
    placesOf(await running()),
    placesOf(before),
    "every VM runs where it ran",
  );

  const live = await request(`/hosts/${member.id}/actions/forget?sync=true`, {
    method: "POST",
  });
  t.equal(live.status, 409, "it is up");
  t.match(await act(`/hosts/${member.id}/actions/clean_shutdown`), {
    status: "success",
  });
  t.equal((await hostNow(member.id)).power_state, "Halted");
  t.match(await act(`/hosts/${member.id}/actions/forget`), {
    status: "success",
  });
  t.equal((await request(`/hosts/${member.id}`)).status, 404);

  const audit = await request(`/hosts/${pool!.master}/audit.txt`);
  t.equal(audit.status, 200, await audit.text());
  t.match(audit.headers.get("content-type"), "text/plain");
  const logs = await request(`/hosts/${pool!.master}/logs.tgz`);
  t.equal(logs.headers.get("content-type"), "application/gzip");
  t.equal(gunzipSync(await logs.arrayBuffer()).length, 1024);
  const all = (await read("/dashboard")) as { hostsStatus: object };
  t.match(all.hostsStatus, { running: 2, total: 2 });
  const dashboard = await read(`/pools/${pool!.id}/dashboard`);
  t.match(dashboard, { vms: { status: { running: before.length } } });

  t.same(await read(`/hosts/${pool!.master}/smt`), { enabled: true });
  const missing = await read(`/hosts/${pool!.master}/missing_patches`);
  t.match((missing as object[])[0], {
    name: "kernel",
    version: String,
  });
});

t.test("a pool is rebooted host by host", LIMIT, async (t) => {
  const { read, act } = await signIn(t, ...SIZE);
  const starts = async () =>
    Object.fromEntries(
      ((await read("/hosts?fields=*")) as Host[]).map(({ id, startTime }) => [
        id,
        startTime,
      ]),
    );
  const places = async () =>
    placesOf((await read("/vms?fields=*&filter=power_state:Running")) as Vm[]);
  const [pool] = (await read("/pools?fields=*")) as { id: string }[];
  const before = { starts: await starts(), places: await places() };
  const task = await act(`/pools/${pool!.id}/actions/rolling_reboot`);
  t.equal(task.status, "success", JSON.stringify(task.result));
  for (const [id, start] of Object.entries(await starts()))
    t.ok(start > before.starts[id]!, "it was rebooted");
  t.same(await places(), before.places, "VMs are where they were");
});

/** Where VMs run, by their ids. */
function placesOf(vms: readonly Vm[]): object {
  return Object.fromEntries(vms.map((vm) => [vm.id, vm.$container]));
}
