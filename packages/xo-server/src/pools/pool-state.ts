import type { ReflectorState } from "@xo-server/inventory";
import { isPermanent, type XapiState } from "@xo-server/xen-api";
import type { PoolState } from "../status/status.js";

/** The state of a pool, derived from those of its session and of its mirror. */
export function toPoolState(
  session: XapiState,
  mirror: ReflectorState,
  hasListed: boolean,
): PoolState {
  switch (session.name) {
    case "stopped":
      return "stopped";
    case "disconnected":
    case "connecting":
      return "connecting";
    case "backing-off":
      return isPermanent(session.cause) && !session.isPassing
        ? "failed"
        : "backing-off";
    case "connected":
      // The mirror has not reacted to the session yet.
      if (mirror === "connecting") return hasListed ? "re-listing" : "listing";
      return mirror;
  }
}
