/** Properties of a snapshot that the tree uses. */
interface SnapshotRow {
  readonly id: string;
  /** Parent snapshot. */
  readonly parent?: string | undefined;
  /** Seconds since the epoch. */
  readonly snapshot_time?: number | undefined;
}

/** A row of the tree: a snapshot, or the current state. */
interface SnapshotLine<T> {
  /** Undefined: the current state. */
  readonly snapshot: T | undefined;
  /** Depth of the branch. */
  readonly depth: number;
  /** Parent; undefined: none, or deleted. */
  readonly after: T | undefined;
}

/**
 * Snapshots from parent to child, oldest first. A
 * chain has one depth; at a fork the branch of the current state keeps
 * its depth, the other branches are deeper and come first.
 * @param current parent of the current state
 */
export function snapshotTree<T extends SnapshotRow>(
  snapshots: readonly T[],
  current: string | undefined,
): SnapshotLine<T>[] {
  const byId = new Map(snapshots.map((one) => [one.id, one]));
  const parentOf = (one: T) => byId.get(one.parent ?? "");
  const path = pathTo(byId.get(current ?? ""), parentOf);
  const children = new Map<T | undefined, T[]>();
  for (const one of snapshots) {
    // Parents in a cycle: each of them becomes a root.
    const parent = isInRing(one, parentOf) ? undefined : parentOf(one);
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  for (const some of children.values()) some.sort(byTime);
  const lines: SnapshotLine<T>[] = [];
  addBelow(undefined, 0);
  return lines;

  function addBelow(after: T | undefined, depth: number): void {
    const isNowHere = after === byId.get(current ?? "");
    const below = children.get(after) ?? [];
    // Roots are not branches of each other.
    const main =
      after === undefined || isNowHere
        ? undefined
        : (below.find((one) => path.has(one)) ?? below.at(-1));
    for (const snapshot of below)
      if (snapshot !== main)
        add(snapshot, after, after === undefined ? depth : depth + 1);
    if (main !== undefined) add(main, after, depth);
    if (isNowHere) lines.push({ snapshot: undefined, depth, after });
  }

  function add(snapshot: T, after: T | undefined, depth: number): void {
    lines.push({ snapshot, depth, after });
    addBelow(snapshot, depth);
  }
}

function pathTo<T>(
  end: T | undefined,
  parentOf: (one: T) => T | undefined,
): Set<T> {
  const path = new Set<T>();
  for (let one = end; one !== undefined && !path.has(one); one = parentOf(one))
    path.add(one);
  return path;
}

function isInRing<T>(start: T, parentOf: (one: T) => T | undefined): boolean {
  const seen = new Set<T>();
  for (let one = parentOf(start); one !== undefined; one = parentOf(one)) {
    if (one === start) return true;
    if (seen.has(one)) return false;
    seen.add(one);
  }
  return false;
}

function byTime(a: SnapshotRow, b: SnapshotRow): number {
  return (a.snapshot_time ?? 0) - (b.snapshot_time ?? 0);
}
