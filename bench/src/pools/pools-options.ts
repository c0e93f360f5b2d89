import { UsageError } from "../bench.js";
import { readArguments } from "../harness/arguments.js";
import {
  rowArguments,
  rowUsage,
  toRowOptions,
  type RowOptions,
} from "../harness/row-options.js";

export interface PoolsOptions extends RowOptions {
  /** Profiles of the simulator. */
  readonly pools: readonly string[];
  /** Addresses of pools that are there already; then no simulator is started. */
  readonly urls: readonly string[];
  /** Git ref whose published figures are compared with these. */
  readonly compare: string | undefined;
  /** Where every measured process leaves CPU profiles; profiling costs time. */
  readonly profile: string | undefined;
  /** Also load A, B, C and forty small pools in one process. */
  readonly many: boolean;
}

export const poolsUsage = `[A B C] [many] ${rowUsage} [--url URL ...] [--compare REF] [--cpu-prof DIR]`;

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
    ...rowArguments,
    url: { type: "string", multiple: true },
    compare: { type: "string" },
    "cpu-prof": { type: "string" },
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
  const full = isFull(pools, values.only ?? []) && !smoke;
  return {
    ...toRowOptions(values, {
      runs: DEFAULT_RUNS,
      documents: full ? documents : undefined,
    }),
    pools,
    urls,
    compare: values.compare,
    profile: values["cpu-prof"],
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
