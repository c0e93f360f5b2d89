import { summarise, type Figures } from "./figures.js";
import type { Measured } from "./rounds.js";
import type { Machine } from "./machine.js";

/** What was measured, by name. */
interface ResultKey {
  readonly pool: string;
  readonly mode: string;
  readonly place: string;
}

/** One line of a bench's JSON file: the key and the medians of all figures, side by side. */
export type Result = ResultKey & {
  readonly runs: number;
  /** Least and greatest value of each figure. */
  readonly spread: Readonly<Record<string, readonly [number, number]>>;
  /** Why there are no figures. */
  readonly failure?: string;
} & Readonly<Record<string, unknown>>;

/** The JSON file of a bench. */
export interface Report {
  readonly results: readonly Result[];
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly commit: string;
  /** Day of the run, ISO 8601. */
  readonly date: string;
}

/**
 * One line of the results: median, least and greatest value of each figure over
 * all runs.
 * @param failure why a benchmark target could not be measured (any more)
 */
export function toResult(
  key: ResultKey,
  { runs, failure }: Pick<Measured<unknown>, "runs" | "failure">,
): Result {
  const { median, min, max } = summarise(runs);
  const spread = Object.fromEntries(
    Object.keys(median).map((name): [string, [number, number]] => [
      name,
      [tidy(min[name]!), tidy(max[name]!)],
    ]),
  );
  return {
    ...key,
    ...roundAll(median),
    runs: runs.length,
    spread,
    ...(failure === undefined ? {} : { failure }),
  };
}

/** A figure's median; NaN where there is none. */
export function figureOf(result: Result | undefined, name: string): number {
  const value = result?.[name];
  return typeof value === "number" ? value : Number.NaN;
}

/** Two digits behind the point: more is noise and makes diffs of the file long. */
function tidy(value: number): number {
  return Math.round(value * 100) / 100;
}

function roundAll(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, tidy(value)]),
  );
}
