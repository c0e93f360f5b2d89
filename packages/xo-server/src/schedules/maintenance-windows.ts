import { checkTimezone, createTimes, type Times } from "./times.js";
import type { Windows } from "./window-shape.js";

/** A time of a maintenance window, in ms since the epoch. */
interface WindowTime {
  readonly from: number;
  readonly to: number;
}

interface Range {
  readonly starts: Times;
  readonly ends: Times;
}

const HOUR_MS = 3_600_000;
/** A range lasts at most a day, which has 25 hours at the end of daylight saving time. */
const LONGEST_MS = 25 * HOUR_MS;
/** Adjacent windows are merged, up to this length, in ms. */
const MAX_MERGED_MS = 8 * 24 * HOUR_MS;
/** Number of windows tried for a step; each range occurs within a week. */
const TRIES = 64;

/** Times at which work on hosts may be done. Daylight saving: as in schedules of jobs. */
export class MaintenanceWindows {
  readonly #ranges: readonly Range[];

  /** @throws XoError INVALID_PARAMETERS: unknown time zone */
  constructor({ ranges, timezone }: Windows) {
    if (timezone !== undefined) checkTimezone(timezone);
    this.#ranges = ranges.map(({ days = [], from, to }) => ({
      starts: createTimes(cronOf(from, days), timezone),
      ends: createTimes(cronOf(to, []), timezone),
    }));
  }

  /** No ranges: work may be done at any time. */
  get isAlways(): boolean {
    return this.#ranges.length === 0;
  }

  /** The window that is open at a time, or opens next. */
  next(now: number): WindowTime | undefined {
    const from = this.#ranges
      .map(({ starts }) => this.#openSince(starts, now) ?? starts.next(now))
      .filter((at) => at !== undefined)
      .sort((a, b) => a - b)
      .find((at) => this.#endOf(at, now) !== undefined);
    return from === undefined
      ? undefined
      : { from, to: this.#endOf(from, now)! };
  }

  /**
   * The first time, not before `now`, at which a step can begin so that it ends
   * within its window.
   * @param ms length of the step
   * @returns undefined: no window is long enough
   */
  startFor(ms: number, now: number): number | undefined {
    if (this.isAlways) return now;
    let at = now;
    for (let tries = 0; tries < TRIES; tries++) {
      const window = this.next(at);
      if (window === undefined) return undefined;
      const start = Math.max(at, window.from);
      if (start + ms <= window.to) return start;
      at = window.to;
    }
    return undefined;
  }

  /** The length of the longest window, in ms. */
  longest(now: number): number {
    let longest = 0;
    let at = now;
    for (let tries = 0; tries < TRIES; tries++) {
      const window = this.next(at);
      if (window === undefined) break;
      longest = Math.max(longest, window.to - window.from);
      at = window.to;
    }
    return longest;
  }

  /** The last start of a range that has not ended. */
  #openSince(starts: Times, now: number): number | undefined {
    const { ends } = this.#ranges.find((range) => range.starts === starts)!;
    const since = starts.last(now - LONGEST_MS, now);
    if (since === undefined) return undefined;
    return ends.next(since)! > now ? since : undefined;
  }

  /** End of the windows that are open from `from` on; undefined: they end before `now`. */
  #endOf(from: number, now: number): number | undefined {
    let end = from;
    const most = from + MAX_MERGED_MS;
    for (let grown = true; grown && end < most;) {
      grown = false;
      for (const { starts, ends } of this.#ranges) {
        const since = starts.last(end - LONGEST_MS, end);
        const until = since === undefined ? undefined : ends.next(since);
        if (until === undefined || until <= end) continue;
        end = until;
        grown = true;
      }
    }
    return end > now ? Math.min(end, most) : undefined;
  }
}

function cronOf(time: string, days: readonly string[]): string {
  const [hour, minute] = time.split(":").map(Number);
  return `${minute} ${hour} * * ${days.length === 0 ? "*" : days.join(",")}`;
}
