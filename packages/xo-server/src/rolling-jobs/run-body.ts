import type { RunBody } from "../jobs/run-outcome.js";

/** The result of a run for a pool. JSON. Times in ms since the epoch. */
export interface PoolEntry {
  readonly pool: string;
  readonly name: string;
  readonly status: "success" | "failure";
  readonly start: number;
  readonly end: number;
  readonly error?: object;
}

interface RollingRunBody extends RunBody {
  readonly succeeded: number;
  readonly failed: number;
  readonly pools: readonly PoolEntry[];
  /** Number of pools whose group was not started. */
  readonly notBegun?: number;
}

/** Converts a run for clients. */
export function toRunBody(
  groups: readonly (readonly string[])[],
  pools: readonly PoolEntry[],
): RollingRunBody {
  const failed = pools.filter(({ status }) => status === "failure").length;
  const notBegun = groups.flat().length - pools.length;
  return {
    succeeded: pools.length - failed,
    failed,
    pools,
    ...(notBegun === 0 ? {} : { notBegun }),
  };
}
