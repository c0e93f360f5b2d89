import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import t, { type Test } from "tap";
import type { Thing } from "../api-session.js";
import { startControlled, type ControlledPools } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { storeBackup } from "./stored-backups.js";
import { recordsOf } from "./vm-records.js";
import { lastRun } from "./vm-with-disks.js";

t.comment("timeout=480000");

const MIB = 2 ** 20;
/** Tables in which a restore test creates something. */
const KINDS = ["VM", "VDI", "VBD", "VIF", "network"];

type XapiVm = Readonly<Record<string, unknown>> & {
  readonly name_label: string;
  readonly other_config: Readonly<Record<string, string>>;
};

/** A backup of a VM with guest tools, an SR for its test, and the number of objects in the pool. */
async function setUp(t: Test, tags: readonly string[] = []) {
  const controlled = await startControlled(t, { hosts: 1, vms: 3 });
  const { api, pools } = controlled;
  const pool = pools[0]!;
  const repository = await createRepository(t, api);
  const vms = await api.all({ type: "VM" });
  const records = vms.map((vm) => recordsOf(pool, vm.id));
  // One whose guest has guest tools in the simulator.
  const at = records.findIndex(
    ({ VM }) => (VM as XapiVm).other_config["base_template_name"] !== undefined,
  );
  const source = vms[at]!;
  const owner = { uuid: source.id, name_label: String(source["name_label"]) };
  const VM = { ...(records[at]!["VM"] as XapiVm), tags };
  const disks = { d0: randomBytes(2 * MIB) };
  const more = { records: { ...records[at], VM } };
  const backup = await storeBackup(repository, owner, disks, more);
  const remotes = [repository.id];
  await api.request("backupNg.listVmBackups", { remotes, _forceRefresh: true });
  const srs = await api.all({ type: "SR" });
  const sr = (srs.find((one) => one["SR_type"] === "nfs") ?? srs[0]!).id;
  const count = () => KINDS.map((name) => pool.database.table(name).rows.size);
  const id = `${repository.id}/${backup}`;
  return { ...controlled, pool, id, sr, source, repository, count };
}

/** The VM of the test that runs now, when it exists. */
async function testVm({
  pools,
}: Pick<ControlledPools, "pools">): Promise<string> {
  const { rows } = pools[0]!.database.table("VM");
  for (;;) {
    for (const ref of rows.keys()) {
      const vm = pools[0]!.database.get("VM", ref) as XapiVm;
      const { name_label, power_state } = vm;
      const isTest = name_label.startsWith("[restore test");
      if (isTest && power_state === "Running") return ref;
    }
    await pause(20);
  }
}

t.test("a backup is tested by a start in a closed network", async (t) => {
  const { api, pool, id, sr, count, calls } = await setUp(t);
  const before = count();
  calls();
  const params = { id, sr, settings: {} };
  t.match(await api.request("backupNg.checkBackup", params), {
    success: true,
    method: "tools",
    bootMs: Number,
    durationMs: Number,
    hasScreenshot: true,
  });
  const created = calls();
  for (const name of ["network.create", "VIF.create", "VM.start", "VM.destroy"])
    t.ok(created.includes(name), name);
  t.same(count(), before, "nothing is left");
  const shown = (await api.request("backupArchive.get", { id })) as Thing;
  t.match(shown, {
    restoreTest: { success: true, time: Number, method: "tools" },
  });
  const screenshot = await api.request("backupArchive.getRestoreScreenshot", {
    id,
  });
  const { png } = screenshot as { png: string };
  const bytes = Buffer.from(png, "base64");
  t.equal(bytes.toString("latin1", 1, 4), "PNG");
  t.same([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [640, 400]);

  await t.test("without interfaces", async (t) => {
    const none = { ...params, network: "none" };
    t.match(await api.request("backupNg.checkBackup", none), { success: true });
    const created = calls();
    t.notOk(created.includes("network.create"));
    t.notOk(created.includes("VIF.create"));
    t.same(count(), before);
  });

  await t.test("a VM that does not start has failed", async (t) => {
    pool.failNext("VM.start", "HOST_NOT_ENOUGH_FREE_MEMORY", ["1", "0"]);
    t.match(await api.request("backupNg.checkBackup", params), {
      success: false,
      error: /HOST_NOT_ENOUGH_FREE_MEMORY/,
    });
    t.same(count(), before, "nothing is left after a failure");
    t.match(await api.request("backupArchive.get", { id }), {
      restoreTest: { success: false },
    });
  });
});

t.test("a script of the guest decides where the VM has its tag", async (t) => {
  const set = await setUp(t, ["xo-backup-health-check-xenstore"]);
  const { api, pool, id, sr, count } = set;
  const before = count();
  const key = "vm-data/xo-backup-health-check";
  const answer = async (data: Readonly<Record<string, string>>) => {
    const result = api.request("backupNg.checkBackup", { id, sr });
    const ref = await testVm(set);
    const { xenstore_data } = pool.database.get("VM", ref);
    t.match(xenstore_data, { [key]: "planned" });
    pool.database.update("VM", ref, { xenstore_data: data });
    return result;
  };
  t.match(await answer({ [key]: "success" }), {
    success: true,
    method: "script",
    hasScreenshot: true,
  });
  const failure = { [key]: "failure", [`${key}-error`]: "no tables" };
  t.match(await answer(failure), {
    success: false,
    method: "script",
    error: "the script of the guest reports a failure: no tables",
  });
  const late = { id, sr, bootTimeout: 1_000 };
  t.match(await api.request("backupNg.checkBackup", late), {
    success: false,
    error: "the script of the guest did not report within 1 seconds",
    hasScreenshot: true,
  });
  t.same(count(), before, "nothing is left");
});

t.test("a job tests the newest backups of its VMs", async (t) => {
  const { api, pool, id, sr, source, count } = await setUp(t);
  const before = count();
  const job = { type: "restore-test", name: "weekly", sr, filter: "" };
  const jobId = String(await api.request("job.create", { job }));
  t.match(await api.request("job.plan", { id: jobId }), {
    total: 1,
    tests: [{ vm: source.id, backup: id, repository: "nightly" }],
    excluded: [
      { reason: "it has no backup that can be tested" },
      { reason: "it has no backup that can be tested" },
    ],
  });
  await api.call("job.runNow", { id: jobId, wait: true });
  const run = await lastRun(api, jobId);
  t.match(run, { status: "success", succeeded: 1, failed: 0, skipped: 2 });
  t.match(run.vms[0], {
    vm: source.id,
    status: "success",
    test: { archive: id, method: "tools", hasScreenshot: true, time: Number },
  });
  t.same(count(), before, "nothing is left");
  t.match(await api.request("jobRun.list", { types: ["restore-test"] }), {
    runs: [{ id: run.id }],
  });
  t.match(await api.request("jobRun.list", { types: ["backup"] }), {
    runs: [],
  });

  pool.failNext("VM.start", "HOST_NOT_ENOUGH_FREE_MEMORY", ["1", "0"]);
  await api.call("job.runNow", { id: jobId, wait: true });
  t.match(await lastRun(api, jobId), {
    status: "failure",
    vms: [{ status: "failure", error: { message: /ENOUGH_FREE_MEMORY/ } }],
  });

  const wrong = { ...job, repositories: ["unknown"] };
  t.match(await api.call("job.create", { job: wrong }), {
    error: { data: { code: "NO_SUCH_OBJECT" } },
  });
  const unselected = { type: "restore-test", name: "none", sr };
  t.match(await api.call("job.create", { job: unselected }), {
    error: { data: { reason: /needs VMs or a filter/ } },
  });
});

t.test("the VM of a test is not selected by backup jobs", async (t) => {
  const set = await setUp(t, ["xo-backup-health-check-xenstore"]);
  const { api, pool, id, sr, repository } = set;
  const job = {
    type: "backup",
    name: "all",
    filter: "",
    repositories: [repository.id],
    retention: { keepLast: 1 },
  };
  const jobId = String(await api.request("job.create", { job }));
  const result = api.request("backupNg.checkBackup", { id, sr });
  const ref = await testVm(set);
  while ((await api.all({ type: "VM" })).length < 4) await pause(20);
  t.match(await api.request("job.plan", { id: jobId }), { total: 3 });
  const xenstore_data = { "vm-data/xo-backup-health-check": "success" };
  pool.database.update("VM", ref, { xenstore_data });
  t.match(await result, { success: true });
});
