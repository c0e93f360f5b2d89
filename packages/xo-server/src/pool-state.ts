import { isLasting, type XapiState } from "@xo-server/xen-api";
import type { PoolState } from "./status.js";

/** Where the mirror of a pool is, as far as the state of the pool depends on it. */
export type MirrorState =
  "waiting" | "listing" | "watching" | "backing-off" | "re-listing" | "stopped";

/** The one state of a pool, out of that of its session and that of its mirror. */
export function toPoolState(
  session: XapiState,
  mirror: MirrorState,
  hasListed: boolean,
): PoolState {
  switch (session.name) {
    case "stopped":
      return "stopped";
    case "disconnected":
    case "connecting":
      return "connecting";
    case "backing-off":
      return isLasting(session.cause) ? "failed" : "backing-off";
    case "connected":
      if (mirror === "waiting") return hasListed ? "re-listing" : "listing";
      return mirror;
  }
}
