import { setTimeout as sleep } from "node:timers/promises";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { CreatedVm } from "./create-vm.js";
import { isGone } from "./rollback.js";
import { isRunning, isSet, readRecord } from "./xapi-records.js";

export interface Patience {
  readonly lookEveryMs: number;
  /** A guest that is not running by then keeps its drive. */
  readonly forMs: number;
}

const USUAL: Patience = { lookEveryMs: 5_000, forMs: 600_000 };

/**
 * Removes the config drive once the guest runs, as it may contain secrets.
 * @returns whether it did
 */
export async function dropConfigDrive(
  xapi: Xapi,
  { ref, configDrive }: CreatedVm,
  { lookEveryMs, forMs }: Patience = USUAL,
): Promise<boolean> {
  if (configDrive === undefined) return false;
  for (let waited = 0; waited <= forMs; waited += lookEveryMs) {
    if (await hasComeUp(xapi, ref)) {
      await remove(xapi, configDrive);
      return true;
    }
    await sleep(lookEveryMs, undefined, { ref: false });
  }
  return false;
}

async function hasComeUp(xapi: Xapi, vm: Ref): Promise<boolean> {
  const { guest_metrics, ...record } = await readRecord(xapi, "VM", vm);
  if (!isRunning(record) || !isSet(guest_metrics)) return false;
  try {
    const path = "VM_guest_metrics.get_PV_drivers_detected";
    return (await xapi.call(path, [guest_metrics])) === true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

async function remove(
  xapi: Xapi,
  { vbd, vdi }: { readonly vbd: Ref; readonly vdi: Ref },
): Promise<void> {
  const { currently_attached } = await readRecord(xapi, "VBD", vbd);
  if (currently_attached) await xapi.callAsync("VBD.unplug", [vbd]);
  await xapi.callAsync("VBD.destroy", [vbd]);
  await xapi.callAsync("VDI.destroy", [vdi]);
}
