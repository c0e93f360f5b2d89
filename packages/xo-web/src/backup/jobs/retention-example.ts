import {
  retentionRules,
  type RetentionCounts,
  type RetentionRule,
} from "../job.js";

/** A backup that would be kept. */
interface KeptBackup {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The rules that keep it. */
  readonly rules: readonly RetentionRule[];
}

const DAY_MS = 86_400_000;
/** Of the newest backups each is considered, of older ones one a day. */
const NEWEST = 2_000;

/**
 * What a retention keeps of backups in regular intervals, newest first, as the
 * server applies it: a rule for periods keeps the last backup of each of the
 * newest periods.
 * @param newest time of the newest backup, in ms since the epoch
 * @param intervalMs between two backups
 */
export function exampleOf(
  retention: RetentionCounts,
  newest: number,
  intervalMs: number,
): readonly KeptBackup[] {
  const oldest = newest - spanOf(retention, intervalMs);
  const times: number[] = [];
  for (
    let time = newest;
    time >= oldest;
    time -= times.length < NEWEST ? intervalMs : Math.max(intervalMs, DAY_MS)
  )
    times.push(time);
  const rulesOf = new Map<number, RetentionRule[]>();
  const keep = (time: number, rule: RetentionRule) => {
    rulesOf.set(time, [...(rulesOf.get(time) ?? []), rule]);
  };
  for (const rule of retentionRules) {
    const n = retention[rule] ?? 0;
    if (rule === "keepLast")
      for (const time of times.slice(0, n)) keep(time, rule);
    else
      for (const time of newestOfEach(times, n, periods[rule]))
        keep(time, rule);
  }
  return [...rulesOf]
    .sort(([a], [b]) => b - a)
    .map(([time, rules]) => ({ time, rules }));
}

/** How far back the rules reach, in ms. */
function spanOf(retention: RetentionCounts, intervalMs: number): number {
  const { keepLast = 0, keepDaily = 0, keepWeekly = 0 } = retention;
  const { keepMonthly = 0, keepYearly = 0 } = retention;
  return Math.max(
    keepLast * intervalMs,
    (keepDaily + 1) * DAY_MS,
    (keepWeekly + 1) * 7 * DAY_MS,
    keepMonthly === 0 ? 0 : (keepMonthly + 1) * 31 * DAY_MS,
    keepYearly === 0 ? 0 : (keepYearly + 1) * 366 * DAY_MS,
  );
}

const periods: Readonly<
  Record<Exclude<RetentionRule, "keepLast">, (date: Date) => string>
> = {
  keepDaily: dayOf,
  keepWeekly(date) {
    const monday = new Date(date);
    monday.setDate(date.getDate() - ((date.getDay() + 6) % 7));
    return dayOf(monday);
  },
  keepMonthly: (date) => `${date.getFullYear()} ${date.getMonth()}`,
  keepYearly: (date) => String(date.getFullYear()),
};

function dayOf(date: Date): string {
  return `${date.getFullYear()} ${date.getMonth()} ${date.getDate()}`;
}

function newestOfEach(
  newestFirst: readonly number[],
  count: number,
  periodOf: (date: Date) => string,
): readonly number[] {
  const found = new Map<string, number>();
  for (const time of newestFirst) {
    if (found.size >= count) break;
    const period = periodOf(new Date(time));
    if (!found.has(period)) found.set(period, time);
  }
  return [...found.values()].slice(0, count);
}
