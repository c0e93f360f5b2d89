import type { OperationHandler } from "../../operation.js";
import { XapiFailure } from "../../xapi-failure.js";

/** Power states in errors are in lower case, several joined by `, `. */
export function badPowerState(
  vm: string,
  expected: readonly string[],
  actual: string,
): XapiFailure {
  return new XapiFailure("VM_BAD_POWER_STATE", [
    vm,
    expected.map((state) => state.toLowerCase()).join(", "),
    actual.toLowerCase(),
  ]);
}

/** A field that only XAPI's own parts write. */
export function denied(className: string): OperationHandler {
  return ({ db }, params) => {
    db.get(className, params[0] as string);
    throw new XapiFailure("PERMISSION_DENIED", [""]);
  };
}

/** OPERATION_NOT_ALLOWED, with XAPI's English sentence. */
export function operationNotAllowed(reason: string): XapiFailure {
  return new XapiFailure("OPERATION_NOT_ALLOWED", [reason]);
}

/** INVALID_VALUE, with the name of the field or parameter. */
export function invalidValue(field: string, value: string): XapiFailure {
  return new XapiFailure("INVALID_VALUE", [field, value]);
}
