import { wallClock } from "@xo-server/kit";
import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { version } from "../config/version.js";
import {
  createServerStatus,
  type ServerStatusOptions,
} from "./server-status.js";
import {
  createStatusFeed,
  type StatusFeed,
  type StatusSubscriber,
} from "./status-feed.js";
import type { Audience } from "./visible-status.js";
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

/** The status as revisions for subscribers, as far as each may read it. */
export function startStatusFeed<S extends StatusSubscriber>(
  read: () => Status,
  audienceOf: (subscriber: S, status: Status) => Audience,
  { clock = wallClock }: StartOptions,
  stops: StopStack,
): StatusFeed<S> {
  const feed = createStatusFeed({ read, clock, audienceOf });
  stops.push("status feed", () => {
    feed.stop();
  });
  return feed;
}
