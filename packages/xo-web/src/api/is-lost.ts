import type { StatusView } from "./status-feed.js";

/**
 * Whether the connection is lost: after a first status, or after the first attempt has
 * failed. The first attempt itself is not a lost connection.
 */
export function isLost({ live, status, connection }: StatusView): boolean {
  if (live || connection.name === "idle") return false;
  if (status !== undefined || connection.name === "waiting") return true;
  return connection.name === "connecting" && connection.attempt > 1;
}
