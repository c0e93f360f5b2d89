import { UsageError } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";

export interface PlacementOptions {
  readonly runs: number;
  /** Only rows whose name begins with one of these; empty: all. */
  readonly only: readonly string[];
  /** Write the JSON here as well. */
  readonly json: string | undefined;
  /** Where document and JSON go; undefined: nowhere. */
  readonly out: string | undefined;
  /** A pool as JSON that is planned instead of all rows. */
  readonly replay: string | undefined;
  /** Small pools, once: checks only that the bench works. */
  readonly smoke: boolean;
}

export const placementUsage =
  "[--runs N] [--only ROW ...] [--json FILE] [--out DIR] [--replay POOL.json] [--smoke]";

const DEFAULT_RUNS = 5;

/** @throws UsageError */
export function parsePlacementOptions(
  args: readonly string[],
  documents: string,
): PlacementOptions {
  const { values, positionals } = readArguments(args, {
    runs: { type: "string" },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    out: { type: "string" },
    replay: { type: "string" },
    smoke: { type: "boolean" },
  });
  if (positionals.length > 0)
    throw new UsageError(`it takes no ${positionals[0]}`);
  const smoke = values.smoke === true;
  const only = values.only ?? [];
  // Only the run that the document describes replaces it by default.
  const full = only.length === 0 && !smoke;
  return {
    runs: smoke ? 1 : (readRuns(values.runs) ?? DEFAULT_RUNS),
    only,
    json: values.json,
    out: values.out ?? (full ? documents : undefined),
    replay: values.replay,
    smoke,
  };
}
