import { pause } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { XapiComponents } from "../components.js";
import { addressName, type Address } from "../http/address.js";
import type { Connected } from "./xapi-session.js";

/**
 * Time for a host that has become a member to reject calls that it has not
 * executed, which are then sent to the new coordinator, in ms.
 */
const GRACE_MS = 2_000;

/**
 * Ends calls to a coordinator that the session no longer uses, because it may never
 * answer them: those that may be repeated at once.
 */
export class FormerCoordinator {
  #current: Address | undefined;

  /** Call after each login. */
  onConnected(
    { connections, settings: { clock }, closing, session }: XapiComponents,
    { address }: Connected,
  ): void {
    const left = this.#current;
    this.#current = address;
    if (left === undefined || isSame(left, address)) return;
    const reason = "another host is the coordinator";
    const name = addressName(left);
    // Not CONNECTION_LOST: a reused connection that was closed is replaced by one to the same host.
    const error = new XoError("UNREACHABLE", { address: name, reason });
    connections.leave(left, "repeatable", error);
    void pause(clock, GRACE_MS, closing.signal).then(() => {
      const now = session.current?.address;
      if (now === undefined || isSame(now, left)) return;
      connections.leave(left, "all", error);
    });
  }
}

function isSame(a: Address, b: Address): boolean {
  return addressName(a) === addressName(b);
}
