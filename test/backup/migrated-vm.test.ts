import t from "tap";
import type { ApiSession } from "../api-session.js";
import { backedUpVm } from "./backed-up-vm.js";
import { MIB, write } from "./vm-with-disks.js";

t.comment("timeout=600000");

for (const purgeSnapshotData of [false, true])
  t.test(
    `a VM with incremental backups goes to another pool, where a full one follows${purgeSnapshotData ? "; without data of snapshots" : ""}`,
    async (t) => {
      const backedUp = await backedUpVm(t, { purgeSnapshotData });
      const { api, second, vm, modeOfRun, target, taken } = backedUp;
      const kept = await api.all({ type: "VM-snapshot", $snapshot_of: vm });
      t.equal(kept.length, purgeSnapshotData ? 0 : 1);
      await api.request("vm.migrate", { vm, targetHost: target.id });
      const log = JSON.stringify(await api.request("audit.getRecords"));
      for (const { id } of kept)
        t.ok(
          log.includes(`"vm.delete"`) && log.includes(id),
          "in the audit log",
        );
      t.same(taken(), [], "no snapshot of the backups is left behind");
      const disks = await disksOf(api, vm);
      const system = disks.find(
        (disk) => second.database.byUuid("VDI", disk) !== undefined,
      );
      t.ok(system, "the disks are in the second pool");
      t.same(await modeOfRun(), ["full"]);
      write(second, system!, 5 * MIB, 65_536);
      t.same(await modeOfRun(), ["incremental"]);
    },
  );

for (const purgeSnapshotData of [false, true])
  t.test(
    `its disks go to another SR, then a full backup follows${purgeSnapshotData ? "; without data of snapshots" : ""}`,
    async (t) => {
      const backedUp = await backedUpVm(t, { purgeSnapshotData });
      const { api, vm, disks, modeOfRun, taken } = backedUp;
      const { $SR, $pool } = await api.get(disks[0]!);
      const srs = await api.all({ type: "SR", $pool, content_type: "user" });
      const sr = srs.find(({ id }) => id !== $SR)!;
      const migrate = { id: disks[0], sr_id: sr.id };
      await api.request("vdi.migrate", migrate);
      const { $container } = await api.get(vm);
      await api.request("vm.migrate", {
        vm,
        targetHost: $container,
        sr: sr.id,
      });
      const moved = await disksOf(api, vm);
      for (const disk of moved) t.equal((await api.get(disk))["$SR"], sr.id);
      t.same(taken(), []);
      t.same(await modeOfRun(), ["full"]);
    },
  );

/** Ids of the disks of a VM. */
async function disksOf(api: ApiSession, vm: string): Promise<string[]> {
  const { $VBDs } = await api.get(vm);
  const disks: string[] = [];
  for (const id of $VBDs as string[]) {
    const { VDI, is_cd_drive } = await api.get(id);
    if (is_cd_drive !== true && typeof VDI === "string") disks.push(VDI);
  }
  return disks;
}
