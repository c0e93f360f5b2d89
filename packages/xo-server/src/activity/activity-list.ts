import {
  evaluatePredicate,
  type Catalog,
  type Predicate,
  type Steps,
} from "@xo-server/inventory";
import type { Readable } from "../objects/readable.js";
import type { ActivityEntry, ActivityKind, Related } from "./activity-entry.js";

/** Which entries; without members: the newest. */
export interface ActivityQuery {
  /** ms since the epoch; older entries are omitted. */
  readonly since?: number;
  /** Sequence numbers, both exclusive: only entries older than `before` and newer than `after`. */
  readonly before?: number;
  readonly after?: number;
  /** Id of an object that is the subject of the entry or involved. */
  readonly object?: string;
  /** Id of a pool object. */
  readonly pool?: string;
  readonly kinds?: readonly ActivityKind[];
  readonly limit: number;
}

/** The caller. */
export interface ActivityReader {
  readonly readable: Readable;
  /** Undefined: anonymous. */
  readonly userId: string | undefined;
  readonly isAdmin: boolean;
}

export interface FoundActivity {
  readonly entries: ActivityEntry[];
  /** There may be older entries. */
  hasMore: boolean;
}

/** Entries per step of a slice. */
const ENTRIES_PER_STEP = 64;

/** Entries of the query that the reader may read, newest first. */
export function* listActivity(
  all: readonly ActivityEntry[],
  query: ActivityQuery,
  readable: ReadableEntries,
  found: FoundActivity,
): Steps {
  const { limit, since = 0, before = Infinity, after = 0 } = query;
  const kinds = new Set<string>(query.kinds);
  for (let at = all.length - 1; at >= 0; at--) {
    const entry = all[at]!;
    if (entry.time < since || entry.seq <= after) return;
    if (at % ENTRIES_PER_STEP === 0) yield;
    if (entry.seq >= before || !fits(entry, query, kinds)) continue;
    if (!readable.mayRead(entry)) continue;
    if (found.entries.length === limit) {
      found.hasMore = true;
      return;
    }
    found.entries.push(readable.of(entry));
  }
}

function fits(
  { kind, objectId, of, from, to, ...entry }: ActivityEntry,
  { object, pool }: ActivityQuery,
  kinds: ReadonlySet<string>,
): boolean {
  if (kinds.size > 0 && !kinds.has(kind)) return false;
  if (pool !== undefined && entry.pool !== pool) return false;
  if (object === undefined) return true;
  return [objectId, of?.id, from?.id, to?.id].includes(object);
}

/** What one reader may read at the moment. */
export class ReadableEntries {
  readonly #catalog: Pick<Catalog, "get">;
  readonly #reader: ActivityReader;
  readonly #tests = new Map<string, Predicate | undefined>();
  /** Results by type and id: many entries have the same object. */
  readonly #readable = new Map<string, boolean>();

  constructor(catalog: Pick<Catalog, "get">, reader: ActivityReader) {
    this.#catalog = catalog;
    this.#reader = reader;
  }

  mayRead({ objectId, type }: ActivityEntry): boolean {
    return this.#mayReadObject(objectId, type);
  }

  /**
   * The entry without the names of other objects that the reader may not read.
   */
  of(entry: ActivityEntry): ActivityEntry {
    const { of, from, to, by, ...rest } = entry;
    const { isAdmin, userId } = this.#reader;
    const isShown = by !== undefined && (isAdmin || by.userId === userId);
    return {
      ...rest,
      ...(this.#mayReadRelated(of) ? { of } : {}),
      ...(this.#mayReadRelated(from) ? { from } : {}),
      ...(this.#mayReadRelated(to) ? { to } : {}),
      ...(isShown ? { by } : {}),
    };
  }

  #mayReadRelated(one: Related | undefined): one is Related {
    return one !== undefined && this.#mayReadObject(one.id, one.type);
  }

  #mayReadObject(id: string, type: string): boolean {
    if (!this.#tests.has(type))
      this.#tests.set(type, this.#reader.readable(type));
    const test = this.#tests.get(type);
    if (test === undefined) return true;
    const key = `${type} ${id}`;
    let isReadable = this.#readable.get(key);
    if (isReadable === undefined) {
      // An object that was deleted or changed its type is visible to readers
      // who may read all objects of the type.
      const object = this.#catalog.get(id);
      isReadable =
        object?.type === type && evaluatePredicate(test, object.json);
      this.#readable.set(key, isReadable);
    }
    return isReadable;
  }
}
