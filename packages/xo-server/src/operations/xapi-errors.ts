import { XapiError, XoError, type ErrorCode } from "@xo-server/model";

/**
 * XAPI errors that Xen Orchestra reports by codes of its own, with the names of
 * XAPI's parameters.
 */
const rows: Readonly<
  Record<string, readonly [code: ErrorCode, ...params: string[]]>
> = {
  HOST_OFFLINE: ["HOST_OFFLINE", "objectId"],
  NO_HOSTS_AVAILABLE: ["NO_HOSTS_AVAILABLE", "objectId"],
  NOT_SUPPORTED_DURING_UPGRADE: ["POOL_IS_UPGRADING"],
  OPERATION_BLOCKED: ["OPERATION_BLOCKED", "objectId", "code"],
  PIF_VLAN_EXISTS: ["ALREADY_EXISTS", "objectId"],
  SESSION_AUTHENTICATION_FAILED: ["POOL_REFUSED_LOGIN"],
  VDI_IN_USE: ["VDI_IN_USE", "objectId", "operation"],
  VM_BAD_POWER_STATE: ["VM_BAD_POWER_STATE", "objectId", "expected", "actual"],
  VM_IS_TEMPLATE: ["VM_IS_TEMPLATE", "objectId"],
  VM_LACKS_FEATURE: ["VM_LACKS_FEATURE", "objectId", "feature"],
  VM_LACKS_FEATURE_SHUTDOWN: ["VM_LACKS_FEATURE", "objectId"],
  VM_MISSING_PV_DRIVERS: ["PV_DRIVERS_MISSING", "objectId"],
};

/** Data of Xen Orchestra's errors that XAPI does not send. */
const more: Readonly<Record<string, object>> = {
  // XAPI 2.x does not name the feature; the guest tools report all features that it checks for.
  VM_LACKS_FEATURE: { feature: "guest tools" },
  VDI_IN_USE: { operation: "unknown" },
  PIF_VLAN_EXISTS: { type: "VLAN on this PIF", objectType: "PIF" },
  VM_LACKS_FEATURE_SHUTDOWN: { feature: "shutdown" },
};

/**
 * @param idOf the id of the object with an opaque reference
 * @returns the corresponding XoError; undefined: the XAPI error is passed on
 */
export function fromXapiError(
  error: XapiError,
  idOf: (ref: string) => string | undefined,
): XoError | undefined {
  if (!Object.hasOwn(rows, error.code)) return undefined;
  const [code, ...names] = rows[error.code]!;
  const data: Record<string, unknown> = { ...more[error.code] };
  names.slice(0, error.params.length).forEach((name, i) => {
    const value = error.params[i]!;
    data[name] = name === "objectId" ? (idOf(value) ?? value) : value;
  });
  return new XoError(code, data, error);
}
