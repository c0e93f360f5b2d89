/** Granularities of statistics, by their names in the API. */
export const granularities = ["seconds", "minutes", "hours", "days"] as const;
export type Granularity = (typeof granularities)[number];

/** An archive of XAPI's RRDs: number of points, and seconds between them. */
interface RrdArchive {
  /** Seconds. */
  readonly step: number;
  readonly points: number;
}

export const archives: Readonly<Record<Granularity, RrdArchive>> = {
  seconds: { step: 5, points: 120 },
  minutes: { step: 60, points: 120 },
  hours: { step: 3600, points: 168 },
  days: { step: 86_400, points: 366 },
};
