import { UsageError } from "../bench.js";
import { readArguments, readRuns } from "../harness/arguments.js";
import { rejectArguments, rowArguments } from "../harness/row-options.js";
import { rowNames, type RowName } from "./fleet-row.js";

export interface FleetOptions {
  readonly pools: number;
  /** Of each pool. */
  readonly vms: number;
  /** Changes a second under churn, all pools together. */
  readonly churn: number;
  /** Each of the two parts of the time under churn: CPU, then blocks. */
  readonly churnMs: number;
  readonly restMs: number;
  /** Of the simulated day. */
  readonly hours: number;
  /** Changes a second of the simulated day, all pools together. */
  readonly dayChurn: number;
  /** Profile of the single pool that changes 200 times a second. */
  readonly single: string;
  readonly rows: readonly RowName[];
  readonly runs: number;
  readonly json: string | undefined;
  /** Where document and JSON go; undefined: nowhere. */
  readonly out: string | undefined;
  /** Every measured process leaves CPU profiles here; profiling costs time. */
  readonly profile: string | undefined;
  /** A few small pools for seconds: checks only that the bench works. */
  readonly smoke: boolean;
}

export const fleetUsage = `[--pools N] [--vms N] [--churn N] [--seconds N] [--hours N] [--only ${rowNames.join("|")} ...] [--runs N] [--json FILE] [--out DIR] [--cpu-prof DIR] [--smoke]`;

const FULL = { pools: 100, vms: 1000, churn: 5000, seconds: 60, hours: 24 };
const SMOKE = { pools: 3, vms: 20, churn: 100, seconds: 2, hours: 2 };

/** @throws UsageError */
export function parseFleetOptions(
  args: readonly string[],
  documents: string,
): FleetOptions {
  const { values, positionals } = readArguments(args, {
    ...rowArguments,
    pools: { type: "string" },
    vms: { type: "string" },
    churn: { type: "string" },
    seconds: { type: "string" },
    hours: { type: "string" },
    "cpu-prof": { type: "string" },
  });
  rejectArguments(positionals);
  const smoke = values.smoke === true;
  const defaults = smoke ? SMOKE : FULL;
  const sizes = Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [
      name,
      toInteger(name, values[name as keyof typeof FULL]) ?? value,
    ]),
  ) as typeof FULL;
  const rows = chooseRows(values.only ?? []);
  // Only the run that the document describes replaces it by default.
  const full =
    !smoke &&
    rows.length === rowNames.length &&
    Object.entries(FULL).every(
      ([name, value]) => sizes[name as keyof typeof FULL] === value,
    );
  return {
    pools: sizes.pools,
    vms: sizes.vms,
    churn: sizes.churn,
    churnMs: sizes.seconds * 1000,
    restMs: smoke ? 1000 : 30_000,
    hours: sizes.hours,
    dayChurn: smoke ? 1 : 200,
    single: smoke ? "C" : "A",
    rows,
    runs: smoke ? 1 : (readRuns(values.runs) ?? 1),
    json: values.json,
    out: values.out ?? (full ? documents : undefined),
    profile: values["cpu-prof"],
    smoke,
  };
}

function chooseRows(only: readonly string[]): readonly RowName[] {
  const wrong = only.find((name) => !rowNames.includes(name as RowName));
  if (wrong !== undefined)
    throw new UsageError(
      `there is no row ${wrong}; the rows are ${rowNames.join(", ")}`,
    );
  return rowNames.filter((name) => only.length === 0 || only.includes(name));
}

function toInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new UsageError(`--${name} takes a number from 1 on, not ${text}`);
  return value;
}
