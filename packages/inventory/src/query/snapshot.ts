import {
  addDigest,
  digestToText,
  EMPTY_DIGEST,
  type Digest,
} from "../catalog/digest.js";
import type { Entry, Projection } from "./projection.js";
import type { LiveUpdate } from "./query.js";
import type { Result } from "./result.js";

/** What a window showed at one time. */
export interface Snapshot {
  readonly result: Result;
  readonly projection: Projection;
  readonly offset: number;
  readonly total: number;
  readonly entries: readonly Entry[];
  readonly digest: Digest;
  /** The last epoch of the table's log that it has whole; advances while nothing in the window differs. */
  seen: number;
}

export function digestOfEntries(entries: readonly Entry[]): Digest {
  let sum = EMPTY_DIGEST;
  for (const { digest } of entries) sum = addDigest(sum, digest);
  return sum;
}

/** What a reader who knows `from` has to hear to know `to`. */
export function difference(
  from: Snapshot | undefined,
  to: Snapshot,
  revision: number,
): LiveUpdate {
  const before = from?.entries ?? [];
  const after = to.entries;
  const start = commonStart(before, after);
  const end = commonEnd(before, after, start);
  const objects = new Map<string, Buffer>();
  const patches = new Map<string, Buffer>();
  const moved = new Map(
    before
      .slice(start, before.length - end)
      .map((entry) => [entry.id, entry] as const),
  );
  const tell = (old: Entry | undefined, entry: Entry) => {
    if (old !== undefined && isSame(old.digest, entry.digest)) return;
    const patch = old === undefined ? undefined : patchOf(from!, to, entry.row);
    if (patch === undefined) objects.set(entry.id, to.projection.json(entry));
    else patches.set(entry.id, patch);
  };
  const shift = before.length - after.length;
  for (let i = 0; i < after.length; i++) {
    const entry = after[i]!;
    if (i < start) tell(before[i], entry);
    else if (i >= after.length - end) tell(before[i + shift], entry);
    else tell(moved.get(entry.id), entry);
  }
  const insert = after.slice(start, after.length - end).map(({ id }) => id);
  const isSpliced = moved.size + insert.length > 0;
  return {
    revision,
    total: to.total,
    offset: to.offset,
    ...(isSpliced ? { splice: { at: start, remove: moved.size, insert } } : {}),
    objects,
    patches,
    digest: digestToText(to.digest),
  };
}

/** The patch of the table where it leads from the one to the other, with the fields asked for. */
function patchOf(
  from: Snapshot,
  to: Snapshot,
  row: number,
): Buffer | undefined {
  const isSameDress =
    from.projection === to.projection &&
    from.result.columns === to.result.columns;
  if (!isSameDress) return undefined;
  const whole = to.result.columns.log.patch(row, from.seen);
  if (whole === undefined) return undefined;
  const patch = to.projection.patch(whole);
  // The digest says that the fields differ: then this patch leads from elsewhere.
  return patch.length > "{}".length ? patch : undefined;
}

function isSame(a: Digest, b: Digest): boolean {
  return a.high === b.high && a.low === b.low;
}

function commonStart(a: readonly Entry[], b: readonly Entry[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length]!.id === b[length]!.id) length++;
  return length;
}

function commonEnd(
  a: readonly Entry[],
  b: readonly Entry[],
  start: number,
): number {
  const most = Math.min(a.length, b.length) - start;
  let length = 0;
  while (
    length < most &&
    a[a.length - 1 - length]!.id === b[b.length - 1 - length]!.id
  )
    length++;
  return length;
}
