import type { HandlerContext } from "../../operations/operation.js";

/** Settings of a VIF that determine which addresses its VM may use. */
export interface LockingSettings {
  readonly lockingMode?: string | undefined;
  readonly allowedIpv4?: readonly string[] | undefined;
  readonly allowedIpv6?: readonly string[] | undefined;
}

/**
 * These settings protect a network from spoofed addresses: changing them needs
 * a right on the network, not only on the VM.
 * @param network its id
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN
 */
export function checkLocking(
  { lockingMode, allowedIpv4, allowedIpv6 }: LockingSettings,
  network: string,
  rights: Pick<HandlerContext, "check">,
): void {
  const isSet = [lockingMode, allowedIpv4, allowedIpv6].some(
    (value) => value !== undefined && value.length > 0,
  );
  if (isSet) rights.check("operate:set-locking", "network", network);
}
