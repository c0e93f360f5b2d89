import { XoError } from "@xo-server/model";

const UNITS: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(|ms|msecs?|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?)$/, 1_000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
  [/^(w|weeks?)$/, 7 * 86_400_000],
  [/^(mo|months?)$/, 30 * 86_400_000],
  [/^(y|yrs?|years?)$/, 365.25 * 86_400_000],
];

/** @param duration in ms, or a string such as `1 hour`. @throws XoError INVALID_PARAMETERS */
export function toMilliseconds(duration: number | string): number {
  if (typeof duration === "number") return duration;
  const match = /^(\d{1,15}(?:\.\d{1,9})?) ?([a-z]{0,12})$/i.exec(
    duration.trim(),
  );
  const unit = match?.[2]?.toLowerCase();
  const ms = UNITS.find(([names]) => unit !== undefined && names.test(unit));
  if (match === null || ms === undefined)
    throw new XoError("INVALID_PARAMETERS", {
      reason: "a duration is a number of ms, or a string such as `1 hour`",
      errors: [],
    });
  return Number(match[1]) * ms[1];
}
