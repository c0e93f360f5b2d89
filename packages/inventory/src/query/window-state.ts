import {
  addDigest,
  digestToText,
  EMPTY_DIGEST,
  type Digest,
} from "../catalog/digest.js";
import { isSameDigest, type Entry, type Projection } from "./projection.js";
import type { LiveUpdate } from "./query.js";

/** The content of a window at one time. */
export interface WindowState {
  readonly projection: Projection;
  readonly offset: number;
  readonly total: number;
  readonly entries: readonly Entry[];
  readonly digest: Digest;
}

/** Digest of a window, with which a client compares its own copy. */
export function digestOfEntries(entries: readonly Entry[]): Digest {
  let sum = EMPTY_DIGEST;
  for (const { digest } of entries) sum = addDigest(sum, digest);
  return sum;
}

/**
 * The update that leads from one state to another; from undefined: the whole
 * window.
 */
export function difference(
  from: WindowState | undefined,
  to: WindowState,
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
  const isSameProjection = from?.projection === to.projection;
  const addChange = (old: Entry | undefined, entry: Entry) => {
    if (
      old === entry ||
      (old !== undefined && isSameDigest(old.digest, entry.digest))
    )
      return;
    const patch =
      old !== undefined && isSameProjection
        ? to.projection.patch(old, entry)
        : undefined;
    if (patch === undefined) objects.set(entry.id, entry.json);
    else patches.set(entry.id, patch);
  };
  const shift = before.length - after.length;
  for (let i = 0; i < after.length; i++) {
    const entry = after[i]!;
    if (i < start) addChange(before[i], entry);
    else if (i >= after.length - end) addChange(before[i + shift], entry);
    else addChange(moved.get(entry.id), entry);
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

function commonStart(a: readonly Entry[], b: readonly Entry[]): number {
  const limit = Math.min(a.length, b.length);
  let length = 0;
  while (length < limit && a[length]!.id === b[length]!.id) length++;
  return length;
}

function commonEnd(
  a: readonly Entry[],
  b: readonly Entry[],
  start: number,
): number {
  const limit = Math.min(a.length, b.length) - start;
  let length = 0;
  while (
    length < limit &&
    a[a.length - 1 - length]!.id === b[b.length - 1 - length]!.id
  )
    length++;
  return length;
}
