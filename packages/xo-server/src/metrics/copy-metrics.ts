import type { PoolCopies } from "../pool-copies/pool-copies.js";
import { byLabel, type Metric } from "./exposition.js";

/** @param copies undefined: there are no other servers, and no metrics */
export function toCopyMetrics(copies: PoolCopies | undefined): Metric[] {
  if (copies === undefined) return [];
  return [
    byLabel(
      {
        name: "xo_pool_copies_received_total",
        help: "Snapshots of pools requested from other servers, by result.",
        kind: "counter",
      },
      "result",
      { ...copies.client.figures },
    ),
    byLabel(
      {
        name: "xo_pool_copies_sent_total",
        help: "Snapshots of pools requested by other servers, by result.",
        kind: "counter",
      },
      "result",
      { ...copies.server.figures },
    ),
  ];
}
