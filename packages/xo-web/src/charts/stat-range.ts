/** Resolution of the statistics of the server. */
export type Granularity = "seconds" | "minutes" | "hours" | "days";

export type RangeId = "tenMinutes" | "twoHours" | "week" | "year";

/** A time span that hosts keep statistics of. */
export interface StatRange {
  readonly id: RangeId;
  readonly granularity: Granularity;
  /** Interval of the points in s. */
  readonly step: number;
  readonly points: number;
  /** Granularity of the previous time span, if hosts keep it. */
  readonly before?: Granularity;
}

export const statRanges: readonly StatRange[] = [
  {
    id: "tenMinutes",
    granularity: "seconds",
    before: "minutes",
    step: 5,
    points: 120,
  },
  {
    id: "twoHours",
    granularity: "minutes",
    before: "hours",
    step: 60,
    points: 120,
  },
  {
    id: "week",
    granularity: "hours",
    before: "days",
    step: 3600,
    points: 168,
  },
  { id: "year", granularity: "days", step: 86_400, points: 366 },
];

/** The time span with this id. */
export function rangeOf(id: RangeId): StatRange {
  return statRanges.find((range) => range.id === id)!;
}

/** Time span in seconds. */
export function spanOf({ step, points }: StatRange): number {
  return step * points;
}

/** Refresh interval in ms: one step, at most a minute. */
export function refreshMs({ step }: StatRange): number {
  return Math.min(step, 60) * 1000;
}

/** Number of points that hosts keep at this resolution. */
export function pointsOf(granularity: Granularity): number {
  return statRanges.find((range) => range.granularity === granularity)!.points;
}
