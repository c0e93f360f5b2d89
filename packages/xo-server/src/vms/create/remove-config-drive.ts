import { setTimeout as sleep } from "node:timers/promises";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import type { CreatedVm } from "./create-vm.js";
import { isHandleInvalid } from "../rollback.js";
import { isRunning, isSet, readRecord } from "../xapi-records.js";

interface PollOptions {
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

const DEFAULTS: PollOptions = { intervalMs: 5_000, timeoutMs: 600_000 };

/**
 * Removes the config drive when the guest tools run, because it may contain
 * secrets.
 * @returns false: the guest did not start in time, and keeps its drive
 */
export async function removeConfigDrive(
  xapi: Xapi,
  { ref, configDrive }: CreatedVm,
  { intervalMs, timeoutMs }: PollOptions = DEFAULTS,
): Promise<boolean> {
  if (configDrive === undefined) return false;
  for (let waited = 0; waited <= timeoutMs; waited += intervalMs) {
    if (await areToolsRunning(xapi, ref)) {
      await remove(xapi, configDrive);
      return true;
    }
    await sleep(intervalMs, undefined, { ref: false });
  }
  return false;
}

async function areToolsRunning(xapi: Xapi, vm: Ref): Promise<boolean> {
  const { guest_metrics, ...record } = await readRecord(xapi, "VM", vm);
  if (!isRunning(record) || !isSet(guest_metrics)) return false;
  try {
    const path = "VM_guest_metrics.get_PV_drivers_detected";
    return (await xapi.call(path, [guest_metrics])) === true;
  } catch (error) {
    if (isHandleInvalid(error)) return false;
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
