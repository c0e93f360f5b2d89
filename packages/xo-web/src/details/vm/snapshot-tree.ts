/** What the tree needs of a snapshot. */
export interface SnapshotFacts {
  readonly id: string;
  /** The snapshot that came before it. */
  readonly parent?: string | undefined;
  /** Seconds since 1970. */
  readonly snapshot_time?: number | undefined;
}

/** A line of the tree: a snapshot, or what the VM is now. */
export interface TreeLine<T> {
  /** Undefined: what the VM is now. */
  readonly snapshot: T | undefined;
  /** How many branches it lies off the first. */
  readonly depth: number;
  /** The snapshot that it followed; undefined: none that is still there. */
  readonly after: T | undefined;
}

/**
 * Snapshots in the order in which they followed each other, the oldest first. A
 * line of them has one depth; where it forks, the branch that leads to what the
 * VM is now stays, the others lie deeper and come first.
 * @param current parent of the VM: the snapshot that it is a continuation of
 */
export function snapshotTree<T extends SnapshotFacts>(
  snapshots: readonly T[],
  current: string | undefined,
): TreeLine<T>[] {
  const byId = new Map(snapshots.map((one) => [one.id, one]));
  const parentOf = (one: T) => byId.get(one.parent ?? "");
  const path = pathTo(byId.get(current ?? ""), parentOf);
  const children = new Map<T | undefined, T[]>();
  for (const one of snapshots) {
    // A ring of parents is no tree: whoever is in it begins one.
    const parent = isInRing(one, parentOf) ? undefined : parentOf(one);
    children.set(parent, [...(children.get(parent) ?? []), one]);
  }
  for (const some of children.values()) some.sort(byTime);
  const lines: TreeLine<T>[] = [];
  addBelow(undefined, 0);
  return lines;

  function addBelow(after: T | undefined, depth: number): void {
    const isNowHere = after === byId.get(current ?? "");
    const below = children.get(after) ?? [];
    // Those that nothing came before are no branches of each other.
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

function byTime(a: SnapshotFacts, b: SnapshotFacts): number {
  return (a.snapshot_time ?? 0) - (b.snapshot_time ?? 0);
}
