/** The names of days that the server accepts. */
export const weekdays = [
  "sun",
  "mon",
  "tue",
  "wed",
  "thu",
  "fri",
  "sat",
] as const;

/** Maintenance windows, as `pool.rollingUpdate` takes them. */
export interface Windows {
  readonly timezone: string;
  readonly ranges: readonly {
    readonly from: string;
    readonly to: string;
    readonly days?: readonly string[];
  }[];
}
