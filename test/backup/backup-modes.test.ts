import t, { type Test } from "tap";
import { startControlled } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import {
  leftovers,
  MIB,
  runJob,
  withSmallDisks,
  write,
} from "./vm-with-disks.js";

t.comment("timeout=300000");

/** A running VM with one small disk, and a job that backs it up. */
async function open(t: Test, settings: object, disks = ["system"]) {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api } = controlled;
  const { id: repository } = await createRepository(t, api);
  const vm = await withSmallDisks(controlled, disks);
  await api.request("vm.start", { id: vm.id });
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [repository],
    retention: { keepLast: 7 },
    ...settings,
  };
  const id = String(await api.request("job.create", { job }));
  const run = async () => {
    controlled.calls();
    const { status, vms } = await runJob(api, id);
    const calls = controlled
      .calls()
      .filter((call) =>
        /VM\.(\w*shutdown|start|snapshot|checkpoint)/.test(call),
      )
      .map((call) => call.replace("Async.", ""));
    return { status, vms, calls };
  };
  return { ...controlled, vm, run };
}

t.test("offline: a running VM is shut down, then started again", async (t) => {
  const { api, vm, run } = await open(t, { snapshot: "offline" });
  const { status, calls } = await run();
  t.equal(status, "success");
  t.same(calls, ["VM.clean_shutdown", "VM.snapshot", "VM.start"]);
  t.match(await api.get(vm.id), { power_state: "Running" });
});

t.test("a VM that does not start again is reported", async (t) => {
  const { pools, vm, run, ...controlled } = await open(t, {
    snapshot: "offline",
  });
  pools[0]!.failNext("VM.start", "HOST_NOT_ENOUGH_FREE_MEMORY", ["1", "0"]);
  const { status, vms } = await run();
  t.not(status, "success", JSON.stringify(vms));
  t.same(leftovers({ pools, ...controlled }, vm.id).blocked, []);
});

t.test("memory: a checkpoint is taken, also by a tag of the VM", async (t) => {
  const { api, vm, run } = await open(t, { snapshot: "offline" });
  await api.request("tag.add", { id: vm.id, tag: "xo-memory-backup" });
  const { status, calls } = await run();
  t.equal(status, "success");
  t.same(calls, ["VM.checkpoint"]);
});

t.test("memory and disks without backup exclude each other", async (t) => {
  const { run } = await open(t, { snapshot: "memory" }, ["a", "[NOBAK] b"]);
  const { vms } = await run();
  t.match(vms, [{ status: "failure", error: { code: "BACKUP_REFUSED" } }]);
});

t.test("a VM that fails is tried again", async (t) => {
  const { pools, run } = await open(t, { retries: 1 });
  const fail = () =>
    pools[0]!.failNext("VM.snapshot", "SR_BACKEND_FAILURE_44", ["", "", ""]);
  fail();
  const { status, calls } = await run();
  t.equal(status, "success");
  t.same(calls, ["VM.snapshot", "VM.snapshot"]);
  fail();
  fail();
  t.equal((await run()).status, "failure", "once");
});

t.test("a VM that is deleted during its backup is named as such", async (t) => {
  const { pools, vm, run } = await open(t, { retries: 2 });
  const pool = pools[0]!;
  pool.whenCalled("VDI.get_nbd_info", () => {
    const { database } = pool;
    const ref = database.byUuid("VM", vm.id)!;
    const { snapshots } = database.get("VM", ref);
    for (const one of [...(snapshots as string[]), ref])
      database.destroy("VM", one);
  });
  pool.faults.set("drop", { value: true, method: "nbd" });
  const lost = ["VDI", "OpaqueRef:lost"];
  pool.failNext("http/get_export_raw_vdi", "HANDLE_INVALID", lost);
  const { status, vms } = await run();
  t.equal(status, "failure");
  t.match(vms, [
    {
      error: {
        code: "BACKUP_REFUSED",
        message: `VM ${vm.id} cannot be backed up: it was deleted during the backup`,
      },
    },
  ]);
  t.notOk(
    vms[0]?.warnings?.some((text) => /attempt|connected/.test(text)),
    "it is not tried again, and the pool is not called disconnected",
  );
});

t.test(
  "if NBD fails, the next backup reads the difference to the last one",
  async (t) => {
    const { pools, vm, run } = await open(t, {});
    t.match(await run(), { status: "success" });
    const [disk] = vm.disks;
    write(pools[0]!, disk!, 4 * MIB, 65_536);
    pools[0]!.faults.set("drop", { value: true, method: "nbd" });
    const { vms } = await run();
    const [stored] = vms[0]?.repositories ?? [];
    t.match(stored, {
      status: "success",
      mode: "incremental",
      disks: [{ source: "vhd-delta", reasons: [/NBD/] }],
    });
    t.equal(stored!.disks![0]!.read, 2 * MIB, "the block of the VHD file");
    pools[0]!.faults.set("drop", false);
    write(pools[0]!, disk!, 5 * MIB, 65_536);
    const next = await run();
    t.match(next.vms[0]?.repositories, [{ mode: "incremental" }]);
  },
);
