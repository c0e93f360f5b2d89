import type { StatusView } from "./status-feed.js";

/**
 * Whether the server is gone: it was there and is not live now, or it was never
 * there and the first try has failed. The first try itself worries nobody.
 */
export function isLost({ live, status, connection }: StatusView): boolean {
  if (live || connection.name === "idle") return false;
  if (status !== undefined || connection.name === "waiting") return true;
  return connection.name === "connecting" && connection.attempt > 1;
}
