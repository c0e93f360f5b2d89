import type { Test } from "tap";
import { startControlled, type ControlledPools } from "../controlled-pools.js";
import { createRepository } from "./repository-folders.js";
import { runJob, withSmallDisks } from "./vm-with-disks.js";

type Pool = ControlledPools["pools"][number];

/** Two pools, and a running VM of the first one with a backup of a job for incremental ones. */
export async function backedUpVm(t: Test, settings: object = {}) {
  const controlled = await startControlled(
    t,
    { hosts: 1, vms: 6 },
    { hosts: 1, vms: 6, seed: 9 },
  );
  const { api, pools } = controlled;
  const [first, second] = pools as [Pool, Pool];
  const { id: repository } = await createRepository(t, api);
  const vms = await api.all({ type: "VM" });
  const nth = vms.findIndex(
    ({ id }) => first.database.byUuid("VM", String(id)) !== undefined,
  );
  const { id: vm, disks } = await withSmallDisks(
    controlled,
    ["system", "data"],
    nth,
  );
  await api.request("vm.start", { id: vm });
  const job = {
    type: "backup",
    name: "nightly",
    vms: [vm],
    repositories: [repository],
    retention: { keepLast: 7 },
    ...settings,
  };
  const id = String(await api.request("job.create", { job }));
  const modeOfRun = async () =>
    (await runJob(api, id)).vms[0]?.repositories?.map(({ mode }) => mode);
  const before = new Set(snapshotsOf(first));
  t.same(await modeOfRun(), ["full"]);
  const { $pool } = await api.get(vm);
  const hosts = await api.all({ type: "host" });
  const target = hosts.find((host) => host["$pool"] !== $pool)!;
  /** Snapshots that were taken since the start of the test. */
  const taken = () => snapshotsOf(first).filter((ref) => !before.has(ref));
  return { ...controlled, first, second, vm, disks, modeOfRun, target, taken };
}

/** References of the snapshots of VMs and disks. */
function snapshotsOf({ database }: Pool): string[] {
  return ["VM", "VDI"].flatMap((className) =>
    [...database.records(className)]
      .filter(([, record]) => record["is_a_snapshot"] === true)
      .map(([ref]) => ref),
  );
}
