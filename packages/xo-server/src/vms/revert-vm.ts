import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { markSet } from "./limits/set-mark.js";
import { SET_KEY } from "./limits/resource-sets.js";
import { readRecord, type VmRecord } from "./xapi-records.js";

/**
 * Reverts a VM to a snapshot. If it was running when the snapshot was taken, it is
 * started. It stays in its resource set.
 * @param nameBefore name of a snapshot of the current state, which is taken first;
 * undefined: none is taken
 */
export async function revertVm(
  xapi: Xapi,
  snapshot: Ref,
  nameBefore: string | undefined,
): Promise<void> {
  const record = await readRecord(xapi, "VM", snapshot);
  const vm = record.snapshot_of;
  if (nameBefore !== undefined)
    await xapi.callAsync("VM.snapshot", [vm, nameBefore, []]);
  const { other_config } = await readRecord(xapi, "VM", vm);
  await xapi.callAsync("VM.revert", [snapshot]);
  if (other_config[SET_KEY] !== record.other_config[SET_KEY])
    await markSet(xapi, vm, other_config[SET_KEY]);
  if (record.snapshot_info["power-state-at-snapshot"] === "Running")
    await runAgain(xapi, vm, await readRecord(xapi, "VM", vm));
}

/**
 * The VM is reverted even if it cannot be started now, for example because no host
 * has enough memory.
 */
async function runAgain(
  xapi: Xapi,
  vm: Ref,
  { power_state }: VmRecord,
): Promise<void> {
  const verb = { Halted: "start", Suspended: "resume" }[power_state];
  if (verb === undefined) return;
  try {
    await xapi.callAsync(`VM.${verb}`, [vm, false, false]);
  } catch (error) {
    if (!(error instanceof XapiError)) throw error;
  }
}
