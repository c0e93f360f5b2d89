import { XoError } from "@xo-server/model";
import { Cron } from "croner";

/** The times that a cron expression means, in ms since the epoch. */
export interface Times {
  /** The first after that time; undefined: there is none. */
  next(after: number): number | undefined;
  /** The last after `after` and not after `until`; undefined: there is none. */
  last(after: number, until: number): number | undefined;
}

/** 5 fields, 6 with seconds, or a nickname such as `@daily`. croner would take a date for a pattern as well. */
const SHAPE = /^(@[a-z]+|\S+(\s+\S+){4,5})$/i;
const LONGEST = 256;
/** Whole seconds: finer times there are none. */
const SECOND_MS = 1_000;

/**
 * A time that a change of the clocks leaves out comes at the first moment after
 * the gap, one that comes twice counts once; what has a wildcard or a step in
 * seconds, minutes or hours follows the clocks as they go.
 * @param timezone IANA's name; default: that of the server
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
    throw invalid(`${text} never comes`);
  return { next, last: (after, until) => findLast(next, after, until) };
}

/** @throws XoError INVALID_PARAMETERS */
export function checkTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw invalid(`there is no time zone ${timezone.slice(0, 64)}`);
  }
}

function parse(text: string, timezone: string | undefined): Cron {
  try {
    return new Cron(text, {
      paused: true,
      mode: "5-or-6-parts",
      // As Vixie's cron, for lists and ranges too: `30 2,14 * * *` is never left out.
      fixedTimeRule: "no-wildcard",
      ...(timezone === undefined ? {} : { timezone }),
    });
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : "no such pattern");
  }
}

/** Halves what is left, so that a second's schedule that was away for a year takes 25 looks. */
function findLast(
  next: Times["next"],
  after: number,
  until: number,
): number | undefined {
  const first = next(after);
  if (first === undefined || first > until) return undefined;
  let found = first;
  let low = first;
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
