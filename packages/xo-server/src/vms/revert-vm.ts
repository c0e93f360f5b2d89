import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { markSet } from "./set-mark.js";
import { SET_KEY } from "./resource-sets.js";
import { readRecord, type VmRecord } from "./xapi-records.js";

/**
 * Makes a VM what it was when the snapshot was taken; one that ran then runs again.
 * It stays in its resource set.
 * @param nameBefore of a snapshot that is taken of what it is now; undefined: none is
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

/** It is reverted, and that counts: where no host has room for it now, it stays off. */
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
