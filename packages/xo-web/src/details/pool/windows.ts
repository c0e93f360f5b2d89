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
  /** Absent: that of the server. */
  readonly timezone?: string;
  readonly ranges: readonly {
    readonly from: string;
    readonly to: string;
    readonly days?: readonly string[];
  }[];
}

/** A time range of a maintenance window, as typed. */
interface RangeEntries {
  from: string;
  to: string;
  /** Days on which it begins; none: every day. */
  days: string[];
}

/** The form fields of maintenance windows, as typed. */
interface WindowEntries {
  isOn: boolean;
  /** Empty: that of the server. */
  timezone: string;
  ranges: RangeEntries[];
}

export const newRange: Readonly<Omit<RangeEntries, "days">> = {
  from: "22:00",
  to: "05:00",
};

/** @param ownZone time zone of new windows */
export function toWindowEntries(
  windows: Windows | undefined,
  ownZone: string,
): WindowEntries {
  const { ranges = [] } = windows ?? {};
  const typed = ranges.map(({ from, to, days = [] }) => ({
    from,
    to,
    days: [...days],
  }));
  return {
    isOn: typed.length > 0,
    timezone: windows === undefined ? ownZone : (windows.timezone ?? ""),
    ranges: typed.length > 0 ? typed : [{ ...newRange, days: [] }],
  };
}

/** Undefined: not limited to windows; incomplete ranges are left out. */
export function toWindows({
  isOn,
  timezone,
  ranges,
}: WindowEntries): Windows | undefined {
  const complete = ranges.filter(({ from, to }) => isTime(from) && isTime(to));
  if (!isOn || complete.length === 0) return undefined;
  return {
    ...(timezone === "" ? {} : { timezone }),
    ranges: complete.map(({ from, to, days }) => ({
      from,
      to,
      ...(days.length === 0 ? {} : { days: [...days] }),
    })),
  };
}

/** `00:00` to `23:59` */
function isTime(time: string): boolean {
  return /^([01]\d|2[0-3]):[0-5]\d$/.test(time);
}
