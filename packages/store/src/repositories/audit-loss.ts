import type { Engine } from "../engines/engine.js";
import { GENESIS } from "./audit-entry.js";
import type { MarkedEntry } from "./audit-mark.js";

interface AroundMark {
  /** The last pruned row. */
  readonly start: MarkedEntry;
  /** The last row. */
  readonly head: MarkedEntry;
  /** The row with the number of the mark; another one: it does not exist. */
  readonly marked: MarkedEntry;
}

interface LostEntry {
  readonly seq: number;
  readonly reason: string;
}

/**
 * The first entry that is missing in the log although the mark in `file` shows that
 * it was written.
 */
export function findLost(
  mark: MarkedEntry | undefined,
  { start, head, marked }: AroundMark,
  file: string,
): LostEntry | undefined {
  if (mark === undefined || mark.seq < start.seq) return undefined;
  if (mark.seq > head.seq)
    return {
      seq: head.seq + 1,
      reason: `it is missing, ${mark.seq} were written according to ${file}`,
    };
  if (marked.seq === mark.seq && marked.hash === mark.hash) return undefined;
  const reason = `it is not the entry that was written according to ${file}`;
  return { seq: mark.seq, reason };
}

/** The same, read from the database. Nothing is written. */
export async function readLost(
  { reader }: Pick<Engine, "reader">,
  mark: MarkedEntry,
  file: string,
): Promise<LostEntry | undefined> {
  const ends = await reader
    .selectFrom("audit_head")
    .select(["id", "seq", "hash"])
    .execute();
  const [head, start] = ["head", "start"].map(
    (id) => ends.find((end) => end.id === id) ?? { seq: 0, hash: GENESIS },
  ) as [MarkedEntry, MarkedEntry];
  const row = await reader
    .selectFrom("audit")
    .select(["seq", "hash"])
    .where("seq", "=", mark.seq)
    .executeTakeFirst();
  return findLost(mark, { head, start, marked: row ?? start }, file);
}
