import type { LogEntry } from "./log-entry.js";

/** The state of a repository after an entry of its log. */
export interface RepositoryState {
  readonly sequence: number;
  /** Hexadecimal SHA-256 of the last entry's file. */
  readonly digest: string;
  readonly backups: ReadonlyMap<string, BackupReference>;
  /** Digests of the files of key slots, by name. */
  readonly keys: ReadonlyMap<string, string>;
  /** Files that no backup needs, with the time (ISO 8601) since when. */
  readonly marked: ReadonlyMap<string, string>;
  /** Files whose deletion is decided and may be under way. */
  readonly removing: ReadonlySet<string>;
  /** `order` of the backup that was added last, also if it was removed since. */
  readonly lastOrder: number;
}

export interface BackupReference {
  readonly id: string;
  /** Hexadecimal SHA-256 of the manifest's file. */
  readonly digest: string;
  readonly created: string;
  /**
   * Greater than that of each backup before it in the log: ms since the epoch of
   * `created`, or just after the backup before it, if a clock was set back.
   */
  readonly order: number;
  /** See BackupInput. */
  readonly key?: string;
}

export const emptyState: RepositoryState = {
  sequence: 0,
  digest: "",
  backups: new Map(),
  keys: new Map(),
  marked: new Map(),
  removing: new Set(),
  lastOrder: 0,
};

/** @param digest hexadecimal SHA-256 of the entry's file */
export function applyEntry(
  state: RepositoryState,
  { sequence, time, change }: LogEntry,
  digest: string,
): RepositoryState {
  const next = { ...state, sequence, digest };
  switch (change.type) {
    case "create":
      return next;
    case "add-key":
      return {
        ...next,
        keys: new Map(state.keys).set(change.name, change.digest),
      };
    case "remove-key":
      return { ...next, keys: without(state.keys, [change.name]) };
    case "add-backup": {
      const { id, digest, created, key } = change;
      const order = orderAfter(state.lastOrder, created);
      const backup: BackupReference = {
        id,
        digest,
        created,
        order,
        ...(key === undefined ? {} : { key }),
      };
      const backups = new Map(state.backups).set(id, backup);
      return { ...next, backups, lastOrder: order };
    }
    case "remove-backups":
      return { ...next, backups: without(state.backups, change.ids) };
    case "collect": {
      const { mark, unmark, remove, removed } = change;
      const marked = without(state.marked, [...unmark, ...remove]);
      for (const name of mark) marked.set(name, time);
      const removing = new Set(state.removing);
      for (const name of remove) removing.add(name);
      for (const name of removed) removing.delete(name);
      return { ...next, marked, removing };
    }
  }
}

/** The state as JSON, for checkpoints. */
export interface StateJson {
  readonly version: 1;
  readonly sequence: number;
  readonly digest: string;
  /** In the order of the log; `order` is absent in checkpoints of earlier versions. */
  readonly backups: readonly (Omit<BackupReference, "order"> &
    Partial<Pick<BackupReference, "order">>)[];
  /** Absent in checkpoints of earlier versions. */
  readonly lastOrder?: number;
  readonly keys: readonly (readonly [string, string])[];
  readonly marked: readonly (readonly [string, string])[];
  readonly removing: readonly string[];
}

/** The inverse is `stateFromJson`. */
export function stateToJson(state: RepositoryState): StateJson {
  return {
    version: 1,
    sequence: state.sequence,
    digest: state.digest,
    backups: [...state.backups.values()],
    lastOrder: state.lastOrder,
    keys: [...state.keys],
    marked: [...state.marked],
    removing: [...state.removing],
  };
}

/** The state of a checkpoint. Does not validate: checkpoints are authenticated. */
export function stateFromJson(json: StateJson): RepositoryState {
  const backups = new Map<string, BackupReference>();
  let last = 0;
  for (const backup of json.backups) {
    last = backup.order ?? orderAfter(last, backup.created);
    backups.set(backup.id, { ...backup, order: last });
  }
  return {
    sequence: json.sequence,
    digest: json.digest,
    backups,
    lastOrder: json.lastOrder ?? last,
    keys: new Map(json.keys),
    marked: new Map(json.marked),
    removing: new Set(json.removing),
  };
}

function orderAfter(last: number, created: string): number {
  return Math.max(last + 1, Date.parse(created));
}

function without<V>(
  map: ReadonlyMap<string, V>,
  names: Iterable<string>,
): Map<string, V> {
  const copy = new Map(map);
  for (const name of names) copy.delete(name);
  return copy;
}
