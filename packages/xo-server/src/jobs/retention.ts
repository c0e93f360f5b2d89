/** How many snapshots or backups are retained; all others are deleted. */
export interface Retention {
  readonly keepLast?: number;
  readonly keepDaily?: number;
  readonly keepWeekly?: number;
  readonly keepMonthly?: number;
  readonly keepYearly?: number;
}

export interface Dated {
  readonly id: string;
  /** ms since the epoch; determines the period. */
  readonly time: number;
  /** The greater, the newer: where the order is known without a clock. Default: `time`. */
  readonly order?: number;
}

/**
 * The snapshots that no rule retains. A rule for periods retains the last
 * snapshot of each of the newest periods that have any, so that an outage of a
 * week deletes nothing. The newest snapshot is always retained. Applying the
 * rules again deletes no more.
 * @param timezone IANA name, determines when days begin; default: that of the
 *   server
 */
export function toDelete<T extends Dated>(
  snapshots: readonly T[],
  rules: Retention,
  timezone?: string,
): T[] {
  const newestFirst = snapshots.toSorted(
    (a, b) => orderOf(b) - orderOf(a) || (a.id < b.id ? 1 : -1),
  );
  const days = new LocalDays(timezone);
  const kept = new Set<T>(
    newestFirst.slice(0, Math.max(1, rules.keepLast ?? 0)),
  );
  const byPeriod: [number | undefined, (day: LocalDay) => string][] = [
    [rules.keepDaily, ({ date }) => date],
    [rules.keepWeekly, ({ monday }) => monday],
    [rules.keepMonthly, ({ date }) => date.slice(0, 7)],
    [rules.keepYearly, ({ date }) => date.slice(0, 4)],
  ];
  for (const [count = 0, periodOf] of byPeriod)
    for (const one of newestOfEach(newestFirst, count, (snapshot) =>
      periodOf(days.of(snapshot.time)),
    ))
      kept.add(one);
  return newestFirst.filter((one) => !kept.has(one));
}

function orderOf({ order, time }: Dated): number {
  return order ?? time;
}

/** The first item of each of the first `count` periods. */
function newestOfEach<T>(
  newestFirst: readonly T[],
  count: number,
  periodOf: (one: T) => string,
): T[] {
  const found = new Map<string, T>();
  if (count === 0) return [];
  for (const one of newestFirst) {
    const period = periodOf(one);
    if (found.has(period)) continue;
    if (found.size === count) break;
    found.set(period, one);
  }
  return [...found.values()];
}

interface LocalDay {
  /** `2026-11-21` */
  readonly date: string;
  /**
   * `09-41-05`: without colons, because names of snapshots become file names.
   */
  readonly time: string;
  /** The date of the Monday of its week. */
  readonly monday: string;
}

const DAY_MS = 86_400_000;

/** Local times of a time zone. */
export class LocalDays {
  readonly #timezone: string | undefined;
  /** Made when it is needed: that takes 3 ms or more. */
  #format: Intl.DateTimeFormat | undefined;

  constructor(timezone?: string) {
    this.#timezone = timezone;
  }

  of(time: number): LocalDay {
    this.#format ??= formatOf(this.#timezone);
    const parts = new Map(
      this.#format
        .formatToParts(time)
        .map(({ type, value }) => [type as string, value]),
    );
    const join = (...types: string[]) =>
      types.map((type) => parts.get(type)!.padStart(2, "0")).join("-");
    const date = join("year", "month", "day");
    const start = Date.parse(`${date}T00:00:00Z`);
    // 0: Monday
    const weekday = (new Date(start).getUTCDay() + 6) % 7;
    const monday = new Date(start - weekday * DAY_MS);
    return {
      date,
      time: join("hour", "minute", "second"),
      monday: monday.toISOString().slice(0, 10),
    };
  }
}

function formatOf(timezone: string | undefined): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-CA", {
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    ...(timezone === undefined ? {} : { timeZone: timezone }),
  });
}
