import type { ActivityEntry } from "./entry.js";

/** One event, or several of the same kind in a row. */
export interface TimelineRow {
  readonly key: string;
  readonly entries: readonly [ActivityEntry, ...ActivityEntry[]];
}

/** The events of one hour. */
interface TimelineHour {
  /** Start of the hour, in ms since the epoch. */
  readonly from: number;
  readonly rows: readonly TimelineRow[];
}

const HOUR_MS = 3_600_000;
/**
 * From this number of events of one kind on, by the same user and each within this
 * time of the next, they are one row.
 */
const MANY = 4;
const APART_MS = 60_000;

/** @param entries newest first @returns hours and rows, newest first */
export function toTimeline(
  entries: readonly ActivityEntry[],
): readonly TimelineHour[] {
  const hours: { from: number; entries: ActivityEntry[] }[] = [];
  for (const entry of entries) {
    const from = hourOf(entry.time);
    const last = hours.at(-1);
    if (last?.from === from) last.entries.push(entry);
    else hours.push({ from, entries: [entry] });
  }
  return hours.map(({ from, entries }) => ({ from, rows: toRows(entries) }));
}

/** Entries of one kind that follow each other closely are one row. */
export function toRows(
  entries: readonly ActivityEntry[],
): readonly TimelineRow[] {
  const runs: [ActivityEntry, ...ActivityEntry[]][] = [];
  for (const entry of entries) {
    const run = runs.at(-1);
    if (run !== undefined && belongs(run.at(-1)!, entry)) run.push(entry);
    else runs.push([entry]);
  }
  return runs.flatMap((run) =>
    run.length >= MANY ? [toRow(run)] : run.map((entry) => toRow([entry])),
  );
}

/** The oldest names a row: it stays the same while newer ones join it. */
function toRow(
  entries: readonly [ActivityEntry, ...ActivityEntry[]],
): TimelineRow {
  return { key: String(entries.at(-1)!.seq), entries };
}

function belongs(newer: ActivityEntry, older: ActivityEntry): boolean {
  return (
    newer.kind === older.kind &&
    newer.pool === older.pool &&
    newer.by?.userName === older.by?.userName &&
    newer.time - older.time < APART_MS
  );
}

/** Hours of the local time zone; offsets of time zones are multiples of a quarter of an hour. */
function hourOf(time: number): number {
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return Math.floor((time - offset) / HOUR_MS) * HOUR_MS + offset;
}
