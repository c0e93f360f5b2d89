import { XapiFailure } from "../xapi-failure.js";

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

export function notEnoughMemory(
  needed: number,
  available: number,
): XapiFailure {
  return new XapiFailure("HOST_NOT_ENOUGH_FREE_MEMORY", [
    String(needed),
    String(available),
  ]);
}

export function operationNotAllowed(reason: string): XapiFailure {
  return new XapiFailure("OPERATION_NOT_ALLOWED", [reason]);
}

export function invalidValue(field: string, value: string): XapiFailure {
  return new XapiFailure("INVALID_VALUE", [field, value]);
}
