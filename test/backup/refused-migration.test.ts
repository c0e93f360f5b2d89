import t from "tap";
import { backedUpVm } from "./backed-up-vm.js";

t.comment("timeout=600000");

t.test(
  "a pool that refuses the migration leaves the backups as they are",
  async (t) => {
    const backedUp = await backedUpVm(t);
    const { api, second, vm, disks, target, taken, record } = backedUp;
    const { calls, modeOfRun } = backedUp;
    const host = second.database.byUuid("host", target.id)!;
    second.database.update("host", host, { enabled: false });
    const before = taken();
    calls();
    t.match(await api.call("vm.migrate", { vm, targetHost: target.id }), {
      error: { message: /HOST_DISABLED/ },
    });
    t.same(taken(), before, "the snapshots are still there");
    for (const disk of disks)
      t.equal(record("VDI", disk)["cbt_enabled"], true, "still tracked");
    t.notOk(calls().includes("VDI.disable_cbt"), "nothing was changed");
    t.same(await modeOfRun(), ["incremental"]);
  },
);

t.test("a snapshot of a user with tracked disks is not deleted", async (t) => {
  const backedUp = await backedUpVm(t);
  const { api, vm, disks, target, taken, record, calls } = backedUp;
  const id = await api.request("vm.snapshot", {
    id: vm,
    name: "before update",
  });
  const before = taken();
  calls();
  t.match(await api.call("vm.migrate", { vm, targetHost: target.id }), {
    error: {
      message: `pools do not move disks with snapshot ${String(id)}, which has changed block tracking; no backup has taken it: delete it, then repeat`,
    },
  });
  t.same(taken(), before);
  for (const disk of disks)
    t.equal(record("VDI", disk)["cbt_enabled"], true, "still tracked");
  t.notOk(calls().includes("VDI.disable_cbt"), "nothing was changed");
});

for (const purgeSnapshotData of [false, true])
  t.test(
    purgeSnapshotData
      ? "the right to migrate a VM includes tracking data without data of disks"
      : "who may not delete a snapshot of a backup may not migrate the VM either",
    async (t) => {
      const backedUp = await backedUpVm(t, { purgeSnapshotData });
      const { api, vm, target, taken } = backedUp;
      const { $pool } = await api.get(target.id);
      const { session: operator } = await api.signUp(t, "operator", {
        acls: [vm, target.id, String($pool)].map((object) => ({
          object,
          action: "operator",
        })),
      });
      const before = taken();
      const answer = await operator.call("vm.migrate", {
        vm,
        targetHost: target.id,
      });
      if (purgeSnapshotData) {
        t.match(answer, { result: true });
        t.same(taken(), []);
        return;
      }
      t.match(answer, { error: { message: /\(administrate:delete\)$/ } });
      t.same(taken(), before);
    },
  );
