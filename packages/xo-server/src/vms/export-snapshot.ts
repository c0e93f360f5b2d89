import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { retryWhileInUse } from "../transfers/retry-while-in-use.js";
import { destroyVm } from "./destroy-vm.js";
import { isHandleInvalid } from "./rollback.js";
import { readRecord } from "./xapi-records.js";

/**
 * Takes a snapshot to export a running VM, which XAPI cannot export itself. The
 * snapshot has the VM's name, and its import creates a VM, not a template.
 * @throws XapiError
 */
export async function takeExportSnapshot(xapi: Xapi, vm: Ref): Promise<Ref> {
  const { name_label } = await readRecord(xapi, "VM", vm);
  const ref = (await xapi.callAsync("VM.snapshot", [vm, name_label])) as Ref;
  try {
    await xapi.call("VM.set_is_a_template", [ref, false]);
    return ref;
  } catch (error) {
    await dropExportSnapshot(xapi, ref);
    throw error;
  }
}

/** Deletes the snapshot with its disks, if it still exists. */
export async function dropExportSnapshot(xapi: Xapi, ref: Ref): Promise<void> {
  const destroy = () =>
    destroyVm(xapi, ref, {
      deleteDisks: true,
      bypassBlock: true,
      evenDefaultTemplate: false,
    });
  await retryWhileInUse(destroy).catch((error: unknown) => {
    if (!isHandleInvalid(error)) throw error;
  });
}
