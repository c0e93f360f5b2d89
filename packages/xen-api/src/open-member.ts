import type { Socket } from "node:net";
import { XoError } from "@xo-server/model";
import type { XapiComponents } from "./components.js";
import { parseAddress, type Address } from "./http/address.js";
import { dialUnencrypted } from "./http/dial.js";
import { openNbdServer, parseNbdUrl } from "./nbd-server.js";

/**
 * Opens a connection to a member, or to an NBD server of the pool, for another client of the pool. Nothing is sent on it.
 * @throws XoError UNSUPPORTED: it is not a known member, or this client does not reach the pool directly; those of dial
 */
export async function openMember(
  parts: XapiComponents,
  member: string,
  signal: AbortSignal,
): Promise<Socket> {
  const { session, candidates, dialer, settings } = parts;
  const { current } = session;
  if (current === undefined) throw unavailable("it is not connected");
  const isIndirect = (one: Address) => dialer.viaOf(one) !== undefined;
  if (isIndirect(current.address))
    throw unavailable("it is not reached directly either");
  const nbd = parseNbdUrl(member);
  if (nbd !== undefined) return openNbdServer(parts, nbd, signal);
  const address = parseAddress(member);
  if (!candidates.isKnown(address))
    throw unavailable("it is not a known member");
  if (isIndirect(address))
    throw unavailable("it is not reached directly either");
  return dialUnencrypted(address, settings, { signal, allowHalfOpen: true });
}

function unavailable(reason: string): XoError {
  const what = "a connection to the member of the pool";
  return new XoError("UNSUPPORTED", { what, reason });
}
