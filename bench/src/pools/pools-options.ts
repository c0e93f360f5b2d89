import { UsageError } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";

export interface PoolsOptions {
  /** Profiles of the simulator. */
  readonly pools: readonly string[];
  /** Addresses of pools that are there already; then no simulator is started. */
  readonly urls: readonly string[];
  readonly runs: number;
  /** Only rows whose name begins with one of these; empty: all. */
  readonly only: readonly string[];
  /** Write the JSON here as well. */
  readonly json: string | undefined;
  /** Where document, chart and JSON go; undefined: nowhere. */
  readonly out: string | undefined;
  /** Git ref whose published figures are compared with these. */
  readonly compare: string | undefined;
  /** Where every measured process leaves CPU profiles; profiling costs time. */
  readonly profile: string | undefined;
  /** One run of the smallest pool: checks only that the bench works. */
  readonly smoke: boolean;
  /** Also load A, B, C and forty small pools in one process. */
  readonly many: boolean;
}

export const poolsUsage =
  "[A B C] [many] [--runs N] [--only ROW ...] [--json FILE] [--out DIR] [--url URL ...] [--compare REF] [--cpu-prof DIR] [--smoke]";

const DEFAULT_RUNS = 5;
const PROFILES = ["A", "B", "C"];
/** A, B, C and forty small pools in one process; part of every full run. */
const MANY = "many";

/** @throws UsageError */
export function parsePoolsOptions(
  args: readonly string[],
  documents: string,
): PoolsOptions {
  const { values, positionals } = readArguments(args, {
    runs: { type: "string" },
    only: { type: "string", multiple: true },
    json: { type: "string" },
    out: { type: "string" },
    url: { type: "string", multiple: true },
    compare: { type: "string" },
    "cpu-prof": { type: "string" },
    smoke: { type: "boolean" },
  });
  const wrong = positionals.find(
    (name) => name !== MANY && !PROFILES.includes(name),
  );
  if (wrong !== undefined)
    throw new UsageError(
      `there is no pool ${wrong}; the profiles are ${PROFILES.join(", ")} and ${MANY}`,
    );
  const smoke = values.smoke === true;
  const urls = values.url ?? [];
  const pools = choosePools(positionals, urls, smoke);
  const only = values.only ?? [];
  const full = isFull(pools, only) && !smoke;
  return {
    pools,
    urls,
    runs: smoke ? 1 : (readRuns(values.runs) ?? DEFAULT_RUNS),
    only,
    json: values.json,
    compare: values.compare,
    profile: values["cpu-prof"],
    out: values.out ?? (full ? documents : undefined),
    smoke,
    many: full || positionals.includes(MANY),
  };
}

function choosePools(
  names: readonly string[],
  urls: readonly string[],
  smoke: boolean,
): readonly string[] {
  if (urls.length > 0) return [];
  if (names.length > 0) return names.filter((name) => name !== MANY);
  return smoke ? ["C"] : PROFILES;
}

/** All pools and all rows: only then is the published document replaced by default. */
function isFull(pools: readonly string[], only: readonly string[]): boolean {
  return only.length === 0 && PROFILES.every((name) => pools.includes(name));
}
