import { XapiError, type Ref } from "@xo-server/model";
import type { PoolObject } from "../../objects/pool-objects.js";

/**
 * Moves a disk to another SR of its pool, whether or not a VM uses it. XAPI itself
 * moves only disks that are attached to a VM; any other disk is copied, then
 * deleted.
 * @returns the reference of the disk in the other SR
 * @throws XapiError
 */
export async function moveDisk(
  { xapi, ref }: Pick<PoolObject, "xapi" | "ref">,
  sr: Ref,
): Promise<Ref> {
  try {
    const moved = await xapi.callAsync("VDI.pool_migrate", [ref, sr, {}]);
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
