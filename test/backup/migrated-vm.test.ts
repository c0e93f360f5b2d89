import t from "tap";
import type { ApiSession } from "../api-session.js";
import { startControlled, type ControlledPools } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { MIB, runJob, withSmallDisks, write } from "./vm-with-disks.js";

t.comment("timeout=300000");

t.test(
  "a VM with incremental backups goes to another pool, where a full one follows",
  async (t) => {
    const controlled = await startControlled(
      t,
      { hosts: 1, vms: 6 },
      { hosts: 1, vms: 6, seed: 9 },
    );
    const { api, pools } = controlled;
    const [first, second] = pools;
    const { id: repository } = await createRepository(t, api);
    const vms = await api.all({ type: "VM" });
    const nth = vms.findIndex(
      ({ id }) => first!.database.byUuid("VM", String(id)) !== undefined,
    );
    const vm = await withSmallDisks(controlled, ["system", "data"], nth);
    await api.request("vm.start", { id: vm.id });
    const job = {
      type: "backup",
      name: "nightly",
      vms: [vm.id],
      repositories: [repository],
      retention: { keepLast: 7 },
    };
    const id = String(await api.request("job.create", { job }));
    const modeOfRun = async () =>
      (await runJob(api, id)).vms[0]?.repositories?.map(({ mode }) => mode);
    const before = new Set(snapshotsOf(first!));
    t.same(await modeOfRun(), ["full"]);
    write(first!, vm.disks[0]!, 3 * MIB, 65_536);
    t.same(await modeOfRun(), ["incremental"]);

    const { $pool } = await api.get(vm.id);
    const hosts = await api.all({ type: "host" });
    const target = hosts.find((host) => host["$pool"] !== $pool)!;
    await api.request("vm.migrate", { vm: vm.id, targetHost: target.id });
    t.same(
      snapshotsOf(first!).filter((ref) => !before.has(ref)),
      [],
      "no snapshot of the backups is left behind",
    );

    const disks = await disksOf(api, vm.id);
    const system = disks.find(
      (disk) => second!.database.byUuid("VDI", disk) !== undefined,
    );
    t.ok(system, "the disks are in the second pool");
    t.same(await modeOfRun(), ["full"]);
    write(second!, system!, 5 * MIB, 65_536);
    t.same(await modeOfRun(), ["incremental"]);
  },
);

/** References of the snapshots of VMs and disks. */
function snapshotsOf({ database }: ControlledPools["pools"][number]): string[] {
  return ["VM", "VDI"].flatMap((className) =>
    [...database.records(className)]
      .filter(([, record]) => record["is_a_snapshot"] === true)
      .map(([ref]) => ref),
  );
}

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
