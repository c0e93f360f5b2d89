import type { TimeSpan } from "./chart-line.js";
import { spanOf, statRanges, type RangeId } from "./stat-range.js";

/** The finest statistics that reach back to the start of a span. @param now s since the epoch */
export function rangeFor({ from }: TimeSpan, now: number): RangeId {
  const reaching = statRanges.find((range) => now - spanOf(range) <= from);
  return (reaching ?? statRanges.at(-1)!).id;
}

/** Value for a `datetime-local` field. @param seconds since the epoch */
export function toLocalTime(seconds: number): string {
  const date = new Date(seconds * 1000);
  const local = date.getTime() - date.getTimezoneOffset() * 60_000;
  return new Date(local).toISOString().slice(0, 16);
}

/** `FROM-TO` in the address, in s since the epoch. */
export function spanToText({ from, to }: TimeSpan): string {
  return `${Math.round(from)}-${Math.round(to)}`;
}

/** @returns undefined: not a span */
export function spanFromText(text: unknown): TimeSpan | undefined {
  const match = /^(\d{1,12})-(\d{1,12})$/.exec(String(text));
  if (match === null) return undefined;
  const span = { from: Number(match[1]), to: Number(match[2]) };
  return span.from < span.to ? span : undefined;
}
