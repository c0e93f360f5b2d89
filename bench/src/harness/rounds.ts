import type { Figures } from "./figures.js";

/** One row's runs, or why there are none. */
export interface Measured<Row> {
  readonly row: Row;
  readonly runs: readonly Figures[];
  /** Reason of the first failure; a row that failed once is not tried again. */
  readonly failure?: string;
}

interface Rounds<Row> {
  /** At most this many runs a row. */
  readonly runs: number;
  /** The number of runs of a row, determined after its first run. */
  readonly runsOf?: (row: Row, first: Figures) => number;
  readonly measure: (row: Row) => Promise<Figures>;
  readonly onRun?: (row: Row, outcome: Figures | Error) => void;
}

interface Progress<Row> {
  readonly row: Row;
  readonly runs: Figures[];
  requested: number;
  failure?: string;
}

/**
 * Measures all rows once a round, in turn forwards and backwards, so that a
 * machine that gets warmer or busier does not favour the rows of one end.
 */
export async function measureInRounds<Row>(
  rows: readonly Row[],
  options: Rounds<Row>,
): Promise<Measured<Row>[]> {
  const all = rows.map((row): Progress<Row> => ({
    row,
    runs: [],
    requested: options.runs,
  }));
  for (let round = 0; round < options.runs; round++) {
    for (const progress of round % 2 === 0 ? all : all.toReversed()) {
      if (
        progress.failure === undefined &&
        progress.runs.length < progress.requested
      )
        await runOnce(progress, options);
    }
  }
  return all.map(({ row, runs, failure }) => ({
    row,
    runs,
    ...(failure === undefined ? {} : { failure }),
  }));
}

async function runOnce<Row>(
  progress: Progress<Row>,
  options: Rounds<Row>,
): Promise<void> {
  try {
    const figures = await options.measure(progress.row);
    progress.runs.push(figures);
    if (progress.runs.length === 1 && options.runsOf !== undefined)
      progress.requested = Math.min(
        options.runs,
        options.runsOf(progress.row, figures),
      );
    options.onRun?.(progress.row, figures);
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error));
    progress.failure = reason.message;
    options.onRun?.(progress.row, reason);
  }
}
