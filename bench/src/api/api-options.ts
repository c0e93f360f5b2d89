import { resolve } from "node:path";
import { UsageError } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";

export interface ApiOptions {
  readonly runs: number;
  /** Only rows whose name begins with one of these; empty: all. */
  readonly only: readonly string[];
  /** Write the JSON here as well. */
  readonly json: string | undefined;
  /** Where document and JSON go; undefined: nowhere. */
  readonly out: string | undefined;
  /** Where the measured servers leave CPU profiles; profiling costs time. */
  readonly profile: string | undefined;
  /**
   * The smallest pool, few clients, one run: checks only that the bench works.
   */
  readonly smoke: boolean;
}

export const apiUsage =
  "[--runs N] [--only ROW ...] [--json FILE] [--out DIR] [--cpu-prof DIR] [--smoke]";

const DEFAULT_RUNS = 3;

/** @throws UsageError */
export function parseApiOptions(
  args: readonly string[],
  documents: string,
): ApiOptions {
  const { values, positionals } = readArguments(args, {
    runs: { type: "string" },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    out: { type: "string" },
    "cpu-prof": { type: "string" },
    smoke: { type: "boolean" },
  });
  if (positionals.length > 0)
    throw new UsageError(`it takes no ${positionals[0]}`);
  const smoke = values.smoke === true;
  const only = values.only ?? [];
  const profile = values["cpu-prof"];
  // Only the run that the document describes replaces it by default.
  const full = only.length === 0 && !smoke && profile === undefined;
  return {
    runs: smoke ? 1 : (readRuns(values.runs) ?? DEFAULT_RUNS),
    only,
    json: values.json,
    out: values.out ?? (full ? documents : undefined),
    // The measured servers run elsewhere.
    profile: profile === undefined ? undefined : resolve(profile),
    smoke,
  };
}
