import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { PoolObject } from "../../objects/pool-objects.js";
import { withoutCbt, type TrackedSnapshots } from "../../vms/without-cbt.js";
import { readRecord, readVbds } from "../../vms/xapi-records.js";

/**
 * Moves a disk to another SR of its pool, whether or not a VM uses it. XAPI itself
 * moves only disks that are attached to a VM; any other disk is copied, then
 * deleted.
 * @returns the reference of the disk in the other SR
 * @throws XapiError OPERATION_BLOCKED: a VM of the disk must not be migrated, for example while it is backed up
 * @throws XoError TRACKED_SNAPSHOT: a snapshot of it may not be deleted
 */
export async function moveDisk(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  sr: Ref,
  findSnapshots: (disks: readonly Ref[]) => Promise<TrackedSnapshots>,
): Promise<Ref> {
  await checkNotBlocked(xapi, ref);
  try {
    const moved = await withoutCbt(xapi, {
      findSnapshots: () => findSnapshots([ref]),
      migrate: () => xapi.callAsync("VDI.pool_migrate", [ref, sr, {}]),
    });
    return moved as Ref;
  } catch (error) {
    const isUnattached =
      error instanceof XapiError && error.code === "VDI_NEEDS_VM_FOR_MIGRATE";
    if (!isUnattached) throw error;
    const copy = await xapi.callAsync("VDI.copy", [ref, sr]);
    await xapi.callAsync("VDI.destroy", [ref]);
    return copy as Ref;
  }
}

/** Before tracking is disabled, whether or not XAPI checks this for single disks. */
async function checkNotBlocked(xapi: Xapi, disk: Ref): Promise<void> {
  const { VBDs } = await readRecord(xapi, "VDI", disk);
  for (const { VM } of await readVbds(xapi, VBDs)) {
    const { blocked_operations } = await readRecord(xapi, "VM", VM);
    const reason = blocked_operations["migrate_send"];
    if (reason !== undefined)
      throw new XapiError("OPERATION_BLOCKED", [VM, reason]);
  }
}
