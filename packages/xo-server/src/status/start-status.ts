import { wallClock } from "@xo-server/kit";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { version } from "../config/version.js";
import {
  createServerStatus,
  type ServerStatusOptions,
} from "./server-status.js";
import { createStatusFeed, type StatusFeed } from "./status-feed.js";
import { toTotals, type PoolStatus, type Status } from "./status.js";

/** @returns a function that computes the current status */
export function startStatus({
  demo,
  stops,
  pools,
  clock = wallClock,
  ...rest
}: Omit<ServerStatusOptions, "version" | "demo" | "clock"> &
  Pick<StartOptions, "demo" | "clock"> & {
    readonly stops: StopStack;
    readonly pools: { list(): readonly PoolStatus[] };
  }): () => Status {
  const server = createServerStatus({
    ...rest,
    version,
    demo: demo !== undefined,
    clock,
  });
  stops.push("server status", () => {
    server.stop();
  });
  return () => {
    const all = pools.list();
    return {
      server: server.read(),
      pools: Object.fromEntries(all.map((pool) => [pool.id, pool])),
      totals: toTotals(all),
    };
  };
}

/** The status as revisions for subscribers. */
export function startStatusFeed(
  read: () => Status,
  { clock = wallClock }: StartOptions,
  stops: StopStack,
): StatusFeed {
  const feed = createStatusFeed({ read, clock });
  stops.push("status feed", () => {
    feed.stop();
  });
  return feed;
}
