import { XapiError, XoError, type ErrorCode } from "@xo-server/model";

/** Errors of XAPI that clients of Xen Orchestra know under codes of their own, and what XAPI's parameters mean. */
const rows: Readonly<
  Record<string, readonly [code: ErrorCode, ...params: string[]]>
> = {
  HOST_OFFLINE: ["HOST_OFFLINE", "objectId"],
  NO_HOSTS_AVAILABLE: ["NO_HOSTS_AVAILABLE"],
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

/** What the parameters alone do not tell. */
const more: Readonly<Record<string, object>> = {
  PIF_VLAN_EXISTS: { type: "PIF", objectType: "PIF" },
  VM_LACKS_FEATURE_SHUTDOWN: { feature: "shutdown" },
};

/**
 * @param idOf the id by which clients know what XAPI calls by a reference
 * @returns the same error as one of ours; undefined: XAPI's own code passes through
 */
export function fromXapiError(
  error: XapiError,
  idOf: (ref: string) => string | undefined,
): XoError | undefined {
  if (!Object.hasOwn(rows, error.code)) return undefined;
  const [code, ...names] = rows[error.code]!;
  const data = Object.fromEntries(
    names.map((name, i) => {
      const value = error.params[i];
      const isRef = name === "objectId" && value !== undefined;
      return [name, isRef ? (idOf(value) ?? value) : value];
    }),
  );
  return new XoError(code, { ...data, ...more[error.code] }, error);
}
