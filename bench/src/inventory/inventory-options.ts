import { UsageError } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";

export interface InventoryOptions {
  readonly runs: number;
  /** Only rows whose name begins with one of these; empty: all. */
  readonly only: readonly string[];
  /** Write the JSON here as well. */
  readonly json: string | undefined;
  /** Where document and JSON go; undefined: nowhere. */
  readonly out: string | undefined;
  /** Git ref whose published figures are compared with these. */
  readonly compare: string | undefined;
  /** Few objects, few changes, one run: checks only that the bench works. */
  readonly smoke: boolean;
}

export const inventoryUsage =
  "[--runs N] [--only ROW ...] [--json FILE] [--out DIR] [--compare REF] [--smoke]";

const DEFAULT_RUNS = 3;

/** @throws UsageError */
export function parseInventoryOptions(
  args: readonly string[],
  documents: string,
): InventoryOptions {
  const { values, positionals } = readArguments(args, {
    runs: { type: "string" },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    out: { type: "string" },
    compare: { type: "string" },
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
    compare: values.compare,
    smoke,
  };
}
