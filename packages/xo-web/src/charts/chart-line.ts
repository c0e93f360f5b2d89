import type { Points } from "./stats-answer.js";

/** A line of a chart. */
export interface ChartLine {
  readonly id: string;
  readonly label: string;
  readonly points: Points;
  /** Index of the colour. */
  readonly colour: number;
  /** Line of a comparison: dashed, gaps are bridged. */
  readonly isCompared?: boolean;
}

/** A span of time, in s. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

const SERIES_COLOURS = 8;

/** CSS property of the colour; after the last one they repeat. */
export function colourName(colour: number): string {
  return `--series-${(colour % SERIES_COLOURS) + 1}`;
}

export const seriesNames = Array.from({ length: SERIES_COLOURS }, (_, i) =>
  colourName(i),
);

interface LineFigures {
  readonly latest: number | null;
  readonly average: number | null;
  readonly highest: number | null;
}

/** Indexes of the points in a span. */
export function figuresOf(
  points: Points,
  times: readonly number[],
  { from, to }: TimeSpan,
): LineFigures {
  let total = 0;
  let count = 0;
  let highest: number | null = null;
  let latest: number | null = null;
  for (const [i, value] of points.entries()) {
    const time = times[i] ?? NaN;
    if (value === null || !(time >= from && time <= to)) continue;
    total += value;
    count++;
    latest = value;
    if (highest === null || value > highest) highest = value;
  }
  return { latest, highest, average: count === 0 ? null : total / count };
}
