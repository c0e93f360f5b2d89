import type { Socket } from "node:net";
import { XoError } from "@xo-server/model";
import type { XapiComponents } from "./components.js";
import { parseAddress } from "./http/address.js";
import { dialUnencrypted } from "./http/dial.js";

/**
 * Opens a connection to a member for another client of the pool. Nothing is sent on it.
 * @throws XoError UNSUPPORTED: it is not a known member, or this client does not reach the pool directly; those of dial
 */
export async function openMember(
  { session, candidates, dialer, settings }: XapiComponents,
  member: string,
  signal: AbortSignal,
): Promise<Socket> {
  const address = parseAddress(member);
  const { current } = session;
  if (current === undefined) throw unavailable("it is not connected");
  if (!candidates.isKnown(address)) throw unavailable("it is no known member");
  if ([address, current.address].some((one) => dialer.viaOf(one) !== undefined))
    throw unavailable("it is not reached directly either");
  return dialUnencrypted(address, settings, { signal, allowHalfOpen: true });
}

function unavailable(reason: string): XoError {
  const what = "a connection to the member of the pool";
  return new XoError("UNSUPPORTED", { what, reason });
}
