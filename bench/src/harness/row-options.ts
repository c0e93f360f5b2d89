import { UsageError } from "../bench.js";
import { readRuns } from "./arguments.js";
import type { RunOptions } from "./run-options.js";

/** Options of benchmarks whose rows can be chosen. */
export interface RowOptions extends RunOptions {
  /** Only rows whose name begins with one of these; empty: all. */
  readonly only: readonly string[];
  /** File to which the JSON is written as well. */
  readonly json: string | undefined;
}

/** Their command line, for `readArguments`. */
export const rowArguments = {
  runs: { type: "string" },
  only: { type: "string", multiple: true },
  json: { type: "string" },
  out: { type: "string" },
  smoke: { type: "boolean" },
} as const;

export const rowUsage =
  "[--runs N] [--only ROW ...] [--json FILE] [--out DIR] [--smoke]";

/**
 * @param values of `rowArguments`
 * @param defaults `runs` without --runs; `documents`: folder of the published
 *   document, which only a run of all rows replaces by default
 * @throws UsageError
 */
export function toRowOptions(
  values: {
    readonly runs?: string | undefined;
    readonly only?: string[] | undefined;
    readonly json?: string | undefined;
    readonly out?: string | undefined;
    readonly smoke?: boolean | undefined;
  },
  defaults: { readonly runs: number; readonly documents: string | undefined },
): RowOptions {
  const { only = [], json, out, smoke = false } = values;
  const isComplete = only.length === 0 && !smoke;
  return {
    runs: smoke ? 1 : (readRuns(values.runs) ?? defaults.runs),
    only,
    json,
    out: out ?? (isComplete ? defaults.documents : undefined),
    smoke,
  };
}

/** @throws UsageError if the command line has arguments besides the options */
export function rejectArguments([argument]: readonly string[]): void {
  if (argument !== undefined)
    throw new UsageError(`unexpected argument: ${argument}`);
}
