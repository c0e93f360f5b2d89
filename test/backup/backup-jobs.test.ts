import t from "tap";
import { steer } from "../steered-pools.js";
import { createRepository } from "./repository-folders.js";
import {
  leftovers,
  MIB,
  runJob,
  withSmallDisks,
  write,
} from "./vm-with-disks.js";

t.comment("timeout=300000");

t.test("a job backs up VMs, then only what has changed", async (t) => {
  const steered = await steer(t, { hosts: 1, vms: 6 });
  const { api, pools } = steered;
  const { id: repository } = await createRepository(t, api);
  const vm = await withSmallDisks(steered, ["system", "data", "[NOBAK] swap"]);
  const [system, data, swap] = vm.disks as [string, string, string];
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm.id],
    repositories: [repository],
    retention: { keepLast: 2 },
  };
  const id = String(await api.ask("job.create", { job }));
  t.match(await api.ask("job.plan", { id }), {
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

  await t.test("the first backup reads all", async (t) => {
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
    const left = leftovers(steered, vm.id);
    t.same(left.blocked, [], "migration is not blocked");
    t.equal(left.snapshots.length, 1, "the base of the next backup");
  });

  await t.test("the second backup reads what has changed", async (t) => {
    write(pools[0]!, system, 4 * MIB, 65_536);
    const run = await runJob(api, id);
    t.equal(run.status, "success", JSON.stringify(run));
    const [done] = run.vms[0]?.repositories ?? [];
    t.equal(done?.mode, "incremental", JSON.stringify(done));
    for (const disk of done?.disks ?? [])
      t.ok(disk.read < MIB, `${disk.vdi} by ${disk.source}: ${disk.read}`);
    t.equal(leftovers(steered, vm.id).snapshots.length, 1);
  });

  await t.test("the retention deletes the oldest", async (t) => {
    const run = await runJob(api, id);
    t.equal(run.vms[0]?.repositories?.[0]?.deleted?.length, 1);
    const again = await runJob(api, id);
    t.equal(again.vms[0]?.repositories?.[0]?.deleted?.length, 1);
    t.equal(again.vms[0]?.repositories?.[0]?.mode, "incremental");
  });
});
