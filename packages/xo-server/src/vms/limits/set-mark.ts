import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { SET_KEY } from "./resource-sets.js";

/** @param mark the value of SET_KEY; undefined: the VM is in no resource set */
export async function markSet(
  xapi: Xapi,
  vm: Ref,
  mark: string | undefined,
): Promise<void> {
  await xapi.call("VM.remove_from_other_config", [vm, SET_KEY]);
  if (mark !== undefined)
    await xapi.call("VM.add_to_other_config", [vm, SET_KEY, mark]);
}
