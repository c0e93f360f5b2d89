import { XoError } from "@xo-server/model";
import { Cron } from "croner";

/** The times of a cron expression, in ms since the epoch. */
export interface Times {
  /** The first time after `after`; undefined: none. */
  next(after: number): number | undefined;
  /** The last time after `after` and not after `until`; undefined: none. */
  last(after: number, until: number): number | undefined;
}

/**
 * 5 fields, 6 with seconds, or a nickname such as `@daily`. Excludes dates,
 * which croner accepts as patterns.
 */
const SHAPE = /^(@[a-z]+|\S+(\s+\S+){4,5})$/i;
const LONGEST = 256;
/** Cron has a resolution of one second. */
const SECOND_MS = 1_000;

/**
 * Daylight saving: a time in the gap occurs at its end, a repeated time occurs
 * once; expressions with a wildcard or step in seconds, minutes or hours follow
 * the clock.
 * @param timezone IANA name; default: that of the server
 * @throws XoError INVALID_PARAMETERS
 */
export function createTimes(cron: string, timezone?: string): Times {
  const text = cron.trim();
  if (text.length > LONGEST || !SHAPE.test(text))
    throw invalid("a cron expression has 5 or 6 fields");
  if (timezone !== undefined) checkTimezone(timezone);
  const pattern = parse(text, timezone);
  const next = (after: number) =>
    pattern.nextRun(new Date(after))?.getTime() ?? undefined;
  if (next(Date.now()) === undefined && next(0) === undefined)
    throw invalid(`${text} never occurs`);
  return { next, last: (after, until) => findLast(next, after, until) };
}

/** @throws XoError INVALID_PARAMETERS */
export function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw invalid(`unknown time zone: ${timezone.slice(0, 64)}`);
  }
}

function parse(text: string, timezone: string | undefined): Cron {
  try {
    return new Cron(text, {
      paused: true,
      mode: "5-or-6-parts",
      // As in Vixie cron, also for lists and ranges: `30 2,14 * * *` is never
      // skipped.
      fixedTimeRule: "no-wildcard",
      ...(timezone === undefined ? {} : { timezone }),
    });
  } catch (error) {
    throw invalid(
      error instanceof Error ? error.message : "invalid expression",
    );
  }
}

/** Usually there is one time; else a binary search: 25 steps for a schedule of every second over a year. */
function findLast(
  next: Times["next"],
  after: number,
  until: number,
): number | undefined {
  const first = next(after);
  if (first === undefined || first > until) return undefined;
  const second = next(first);
  if (second === undefined || second > until) return first;
  let found = second;
  let low = second;
  let high = until;
  while (high - low > SECOND_MS) {
    const middle = Math.floor((low + high) / 2);
    const one = next(middle);
    if (one === undefined || one > until) high = middle;
    else low = found = one;
  }
  return found;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
