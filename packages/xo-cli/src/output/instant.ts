import { toDuration } from "./duration.js";

/** Names of members that are times. */
const TIME =
  /(^|[a-z])(At|Since|Until|Before|Time|Timestamp|Date)$|_(at|time|date)$|^(at|since|until|next|start|end|due|time|timestamp|date|created|finished|expiration|lastSeen|lastBackup|validFrom)$/;

/** Bounds of plausible times, 2001 to 2096, in seconds and in milliseconds. */
const SECONDS = [978_307_200, 4e9] as const;
const MILLISECONDS = [978_307_200_000, 4e12] as const;

/**
 * A time as local ISO date, such as `2026-11-22T21:09:42+01:00`; undefined: the
 * value is none.
 * @param name of the member; the last part of a path counts
 * @param value seconds or milliseconds since the epoch
 */
export function toInstant(name: string, value: unknown): string | undefined {
  if (typeof value !== "number" || !TIME.test(name.split(".").at(-1)!))
    return undefined;
  if (isWithin(value, SECONDS)) return toLocalIso(value * 1000);
  return isWithin(value, MILLISECONDS) ? toLocalIso(value) : undefined;
}

/** Whether a list consists of times in milliseconds, such as those of a schedule. */
function isTimes(list: readonly unknown[]): list is readonly number[] {
  return (
    list.length > 0 &&
    list.every(
      (one) => Number.isInteger(one) && isWithin(one as number, MILLISECONDS),
    )
  );
}

/** @param ms since the epoch */
function toLocalIso(ms: number): string {
  const date = new Date(ms);
  const offset = -date.getTimezoneOffset();
  const local = new Date(ms + offset * 60_000).toISOString().slice(0, 19);
  if (offset === 0) return `${local}Z`;
  const two = (number: number) => String(Math.trunc(number)).padStart(2, "0");
  const by = Math.abs(offset);
  return `${local}${offset < 0 ? "-" : "+"}${two(by / 60)}:${two(by % 60)}`;
}

/** Replaces times in a result by local ISO dates, and durations in milliseconds by readable ones. */
export function withTimes(value: unknown, name = ""): unknown {
  if (Array.isArray(value))
    return name === "" && isTimes(value)
      ? value.map(toLocalIso)
      : value.map((one) => withTimes(one, "item"));
  if (typeof value !== "object" || value === null)
    return toInstant(name, value) ?? toDuration(name, value) ?? value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withTimes(one, key)]),
  );
}

function isWithin(
  value: number,
  [from, to]: readonly [number, number],
): boolean {
  return value >= from && value <= to;
}
