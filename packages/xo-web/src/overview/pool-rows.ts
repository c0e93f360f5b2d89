import type { PoolState, PoolStatus } from "../api/status.js";

/** A pool in the overview: its connection, and its figures. */
export interface PoolLine {
  readonly key: string;
  readonly name: string;
  /** The pool as an object; absent: not known yet. */
  readonly id?: string;
  /** Absent: the user may not see it. */
  readonly state?: PoolState;
  readonly error?: string;
}

const { compare } = new Intl.Collator("en", { numeric: true });

/**
 * Merges connections and pools, by name.
 * @param names of pools as objects, by id
 * @param poolOf the pool of a connection, by the id of the connection; if it is not
 *   known, names are compared
 */
export function poolLines(
  connections: readonly PoolStatus[],
  names: ReadonlyMap<string, string>,
  poolOf: ReadonlyMap<string, string>,
): PoolLine[] {
  const left = new Map(names);
  const lines = connections.map((connection): PoolLine => {
    const { id: key, label, state, error } = connection;
    const id = poolOf.get(key) ?? idNamed(left, label);
    const isListed = id !== undefined && names.has(id);
    if (isListed) left.delete(id);
    return {
      key,
      state,
      name: isListed ? names.get(id) || label : label,
      ...(isListed ? { id } : {}),
      ...(error ? { error: error.message } : {}),
    };
  });
  for (const [id, name] of left) lines.push({ key: id, id, name });
  return lines.sort((a, b) => compare(a.name, b.name));
}

function idNamed(
  names: ReadonlyMap<string, string>,
  requested: string,
): string | undefined {
  for (const [id, name] of names) if (name === requested) return id;
  return undefined;
}
