import type { Database } from "../../database.js";
import { map, text, textParam } from "../../records/fields.js";
import type { OperationHandler, OperationTable } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";
import type { XapiMap } from "../../xapi-value.js";
import { refreshVm } from "./refresh.js";

/**
 * `blocked_operations` of a VM: the generated setters write it, and `allowed_operations` follows
 * [xapi_vm.ml set_blocked_operations, from memory].
 */
export const blockedOperations: OperationTable = {
  "VM.set_blocked_operations": write((_, [, value]) => value as XapiMap),
  "VM.add_to_blocked_operations": write((before, [vm, key, value]) => {
    if (Object.hasOwn(before, key as string))
      throw new XapiFailure("MAP_DUPLICATE_KEY", [
        "VM",
        "blocked_operations",
        vm as string,
        key as string,
      ]);
    return { ...before, [key as string]: value! };
  }),
  "VM.remove_from_blocked_operations": write((before, [, key]) =>
    Object.fromEntries(Object.entries(before).filter(([name]) => name !== key)),
  ),
};

function write(
  change: (before: XapiMap, params: Parameters<OperationHandler>[1]) => XapiMap,
): OperationHandler {
  return ({ db }, params) => {
    const vm = textParam(params, 0);
    const before = map(db.get("VM", vm), "blocked_operations");
    db.update("VM", vm, { blocked_operations: change(before, params) });
    refreshVm(db, vm);
  };
}

/** @throws XapiFailure OPERATION_BLOCKED with the VM's reference and the reason that was given */
export function assertNotBlocked(
  db: Database,
  vm: string,
  operation: string,
): void {
  const blocked = map(db.get("VM", vm), "blocked_operations");
  if (Object.hasOwn(blocked, operation))
    throw new XapiFailure("OPERATION_BLOCKED", [vm, text(blocked, operation)]);
}
