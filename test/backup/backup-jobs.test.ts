import { rename } from "node:fs/promises";
import t from "tap";
import { startControlled } from "../controlled-pools.js";
import {
  createRepository,
  type CreatedRepository,
} from "./repository-folders.js";
import {
  lastRun,
  leftovers,
  MIB,
  runJob,
  withSmallDisks,
  write,
} from "./vm-with-disks.js";

t.comment("timeout=300000");

t.test("a job backs up VMs, then only what has changed", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api, pools } = controlled;
  const { id: repository } = await createRepository(t, api);
  const vm = await withSmallDisks(controlled, [
    "system",
    "data",
    "[NOBAK] swap",
  ]);
  const [system, data, swap] = vm.disks as [string, string, string];
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [repository],
    retention: { keepLast: 2 },
  };
  const id = String(await api.request("job.create", { job }));
  t.match(await api.request("job.plan", { id }), {
    total: 1,
    vms: [
      {
        vm: vm.id,
        repositories: [
          { name: "nightly", disks: [{ mode: "full" }, { mode: "full" }] },
        ],
        skippedDisks: [{ vdi: swap }],
      },
    ],
  });

  const sizeOf = async () => {
    const all = (await api.request("remote.getAllInfo")) as Record<
      string,
      { readonly used: number }
    >;
    return all[repository]!.used;
  };

  await t.test("the first backup reads all", async (t) => {
    const empty = await sizeOf();
    const run = await runJob(api, id);
    t.equal(run.status, "success", JSON.stringify(run));
    const [entry] = run.vms;
    t.match(entry, {
      vm: vm.id,
      status: "success",
      repositories: [{ status: "success", mode: "full" }],
      skippedDisks: [{ vdi: swap, reason: "its name contains [NOBAK]" }],
    });
    const disks = entry?.repositories?.[0]?.disks ?? [];
    t.same(disks.map(({ vdi }) => vdi).toSorted(), [system, data].toSorted());
    const left = leftovers(controlled, vm.id);
    t.same(left.blocked, [], "migration is not blocked");
    const stored = disks.reduce((sum, disk) => sum + disk.stored, 0);
    const now = await sizeOf();
    t.ok(now >= empty + stored, `${empty} + ${stored}, ${now} bytes`);
    t.equal(left.snapshots.length, 1, "the base of the next backup");
  });

  await t.test("the second backup reads what has changed", async (t) => {
    write(pools[0]!, system, 4 * MIB, 65_536);
    const run = await runJob(api, id);
    t.equal(run.status, "success", JSON.stringify(run));
    const [done] = run.vms[0]?.repositories ?? [];
    t.equal(done?.mode, "incremental", JSON.stringify(done));
    for (const disk of done?.disks ?? [])
      // A sample of the other blocks is read too.
      t.ok(disk.changed <= 65_536, `${disk.vdi} by ${disk.source}`);
    t.equal(leftovers(controlled, vm.id).snapshots.length, 1);
  });

  await t.test("the retention deletes the oldest", async (t) => {
    const run = await runJob(api, id);
    t.equal(run.vms[0]?.repositories?.[0]?.deleted?.length, 1);
    const again = await runJob(api, id);
    t.equal(again.vms[0]?.repositories?.[0]?.deleted?.length, 1);
    t.equal(again.vms[0]?.repositories?.[0]?.mode, "incremental");
  });
});

t.test("the data of the snapshot is destroyed on request", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api, pools } = controlled;
  const { id: repository } = await createRepository(t, api);
  const vm = await withSmallDisks(controlled, ["system"]);
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [repository],
    retention: { keepLast: 7 },
    purgeSnapshotData: true,
  };
  const id = String(await api.request("job.create", { job }));
  t.equal((await runJob(api, id)).status, "success");
  t.same(leftovers(controlled, vm.id).snapshots, []);
  write(pools[0]!, vm.disks[0]!, 2 * MIB, 65_536);
  const run = await runJob(api, id);
  t.match(run.vms[0]?.repositories, [
    {
      mode: "incremental",
      disks: [{ source: "nbd-changed", changed: 65_536 }],
    },
  ]);
  const { snapshots } = controlled.record("VDI", vm.disks[0]!);
  t.equal((snapshots as string[]).length, 1, "what tracks changes is kept");
});

t.test("a failure leaves nothing, and the next run succeeds", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api, pools } = controlled;
  const { id: repository, folder } = await createRepository(t, api);
  const vm = await withSmallDisks(controlled, ["system"]);
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [repository],
    retention: { keepLast: 7 },
  };
  const id = String(await api.request("job.create", { job }));
  const nothing = { snapshots: [], blocked: [] };

  await t.test("the snapshot fails", async (t) => {
    pools[0]!.failNext("VM.snapshot", "SR_BACKEND_FAILURE_44", [
      "",
      "full",
      "",
    ]);
    const run = await runJob(api, id);
    t.match(run, {
      status: "failure",
      vms: [{ status: "failure", error: { code: "SR_BACKEND_FAILURE_44" } }],
    });
    t.same(leftovers(controlled, vm.id), nothing);
  });

  await t.test("the repository is unreachable", async (t) => {
    await rename(folder, `${folder}-elsewhere`);
    const run = await runJob(api, id);
    t.match(run.vms, [
      { repositories: [{ error: { code: "BACKUP_REPOSITORY_UNREACHABLE" } }] },
    ]);
    t.same(leftovers(controlled, vm.id), nothing);
    await rename(`${folder}-elsewhere`, folder);
  });

  await t.test("the run is cancelled", async (t) => {
    pools[0]!.slowNext("VM.snapshot", 5_000);
    const { runId } = (await api.request("job.runNow", { id })) as {
      runId: string;
    };
    await api.request("job.cancel", { runId });
    let run = await lastRun(api, id);
    while (run.status === "pending") run = await lastRun(api, id);
    t.equal(run.status, "aborted");
    t.same(leftovers(controlled, vm.id), nothing);
  });

  t.equal((await runJob(api, id)).status, "success");
});

t.test("two repositories are written from one reading", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api } = controlled;
  const repositories: CreatedRepository[] = [];
  for (const name of ["first", "second"])
    repositories.push(await createRepository(t, api, { name }));
  const vm = await withSmallDisks(controlled, ["system"]);
  const ids = repositories.map(({ id }) => id);
  const retention = { keepLast: 7 };
  const job = { type: "backup", name: "n", vms: [vm.id], retention };
  const id = String(
    await api.request("job.create", { job: { ...job, repositories: ids } }),
  );
  /** Number of requests to the pool for the content of the disk, and the log. */
  const run = async () => {
    controlled.calls();
    const { vms } = await runJob(api, id);
    const readings = controlled
      .calls()
      .filter((call) => call.includes("get_nbd_info"));
    return {
      entries: vms[0]?.repositories ?? [],
      readings: readings.length,
    };
  };
  const full = await run();
  t.match(full.entries, [
    { status: "success", mode: "full", disks: [{ source: "nbd" }] },
    { status: "success", mode: "full", disks: [{ source: "nbd" }] },
  ]);
  t.equal(full.readings, 1);

  await t.test("one that fails does not stop the other", async (t) => {
    const { folder } = repositories[1]!;
    await rename(folder, `${folder}-elsewhere`);
    const { entries } = await run();
    t.match(entries, [
      { status: "success", mode: "incremental" },
      {
        name: "second",
        status: "failure",
        error: { code: "BACKUP_REPOSITORY_UNREACHABLE" },
      },
    ]);
    await rename(`${folder}-elsewhere`, folder);
    const apart = await run();
    t.match(apart.entries, [
      { status: "success", mode: "incremental" },
      { status: "success", mode: "incremental" },
    ]);
    t.equal(apart.readings, 2, "their last backups are of different snapshots");
    const { readings, entries: last } = await run();
    t.match(last, [{ mode: "incremental" }, { mode: "incremental" }]);
    t.equal(readings, 1);
  });
});

t.test("without NBD, differences are read as VHD", async (t) => {
  const controlled = await startControlled(t, { hosts: 1, vms: 6 });
  const { api, pools } = controlled;
  const { id: first } = await createRepository(t, api, { name: "first" });
  const { id: second, folder } = await createRepository(t, api, {
    name: "second",
  });
  const vm = await withSmallDisks(controlled, ["system"]);
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [first, second],
    retention: { keepLast: 7 },
    preferNbd: false,
    preferCbt: false,
  };
  const id = String(await api.request("job.create", { job }));
  t.match((await runJob(api, id)).vms[0]?.repositories, [
    { status: "success", mode: "full", disks: [{ source: "vhd" }] },
    { status: "success", mode: "full", disks: [{ source: "vhd" }] },
  ]);

  await t.test("a repository that failed keeps its own base", async (t) => {
    await rename(folder, `${folder}-elsewhere`);
    write(pools[0]!, vm.disks[0]!, 3 * MIB, 65_536);
    const run = await runJob(api, id);
    t.equal(run.status, "failure");
    t.match(run.vms[0]?.repositories, [
      { mode: "incremental", disks: [{ source: "vhd-delta" }] },
      { status: "failure" },
    ]);
    t.equal(leftovers(controlled, vm.id).snapshots.length, 2);
    await rename(`${folder}-elsewhere`, folder);
    write(pools[0]!, vm.disks[0]!, 5 * MIB, 65_536);
    const again = await runJob(api, id);
    t.match(again.vms[0]?.repositories, [
      { mode: "incremental", disks: [{ source: "vhd-delta" }] },
      { mode: "incremental", disks: [{ source: "vhd-delta" }] },
    ]);
    t.equal(leftovers(controlled, vm.id).snapshots.length, 1);
  });
});
