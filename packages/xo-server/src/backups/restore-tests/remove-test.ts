import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { destroyVm } from "../../vms/destroy-vm.js";
import { ignoreInvalidHandle } from "../../vms/rollback.js";
import { dropUnattached } from "../restore/restore-disks.js";

/** What a restore test has created in a pool. */
interface CreatedByTest {
  /** The name of the VM and of its network. */
  readonly token: string;
  /** The VM, if it is known; it may no longer exist. */
  readonly vm?: Ref | undefined;
  /** Names of disks that may not be attached to the VM yet. */
  readonly disks?: readonly string[];
}

const DELETE_ALL = {
  deleteDisks: true,
  bypassBlock: true,
  evenDefaultTemplate: true,
} as const;

/**
 * Deletes everything that a restore test has created.
 * @throws XapiError; XoError LEFT_BEHIND
 */
export async function removeTest(
  xapi: Xapi,
  { token, vm, disks = [] }: CreatedByTest,
): Promise<void> {
  const named = (await xapi.call("VM.get_by_name_label", [token])) as Ref[];
  for (const one of new Set([...(vm === undefined ? [] : [vm]), ...named])) {
    await ignoreInvalidHandle(destroyVm(xapi, one, DELETE_ALL));
    for (const label of new Set(disks)) await dropUnattached(xapi, one, label);
  }
  const networks = await xapi.call("network.get_by_name_label", [token]);
  for (const network of networks as readonly Ref[])
    await ignoreInvalidHandle(xapi.call("network.destroy", [network]));
}
