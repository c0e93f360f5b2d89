import {
  evaluatePredicate,
  type Catalog,
  type Predicate,
  type Steps,
} from "@xo-server/inventory";
import type { Readable } from "../objects/readable.js";
import type { ActivityEntry, ActivityKind, Related } from "./activity-entry.js";

/** Which entries; of all the newest. */
export interface ActivityQuestion {
  /** ms: not older. */
  readonly since?: number;
  /** Numbers of entries: older than this one, newer than that one. */
  readonly before?: number;
  readonly after?: number;
  /** An object that they are about, or that has to do with them. */
  readonly object?: string;
  /** Id of a pool object. */
  readonly pool?: string;
  readonly kinds?: readonly ActivityKind[];
  readonly limit: number;
}

/** Who asks. */
export interface ActivityReader {
  readonly readable: Readable;
  /** Undefined: nobody has signed in. */
  readonly userId: string | undefined;
  readonly isAdmin: boolean;
}

export interface FoundActivity {
  readonly entries: ActivityEntry[];
  /** There may be more before the last of them. */
  hasMore: boolean;
}

/** Entries that are looked at between two looks at the clock. */
const A_LOOK = 64;

/** Newest first: what the reader may see of what is asked for. */
export function* listActivity(
  all: readonly ActivityEntry[],
  question: ActivityQuestion,
  sight: Sight,
  found: FoundActivity,
): Steps {
  const { limit, since = 0, before = Infinity, after = 0 } = question;
  const kinds = new Set<string>(question.kinds);
  for (let at = all.length - 1; at >= 0; at--) {
    const entry = all[at]!;
    if (entry.time < since || entry.seq <= after) return;
    if (at % A_LOOK === 0) yield;
    if (entry.seq >= before || !fits(entry, question, kinds)) continue;
    if (!sight.seesAbout(entry)) continue;
    if (found.entries.length === limit) {
      found.hasMore = true;
      return;
    }
    found.entries.push(sight.of(entry));
  }
}

function fits(
  { kind, objectId, of, from, to, ...entry }: ActivityEntry,
  { object, pool }: ActivityQuestion,
  kinds: ReadonlySet<string>,
): boolean {
  if (kinds.size > 0 && !kinds.has(kind)) return false;
  if (pool !== undefined && entry.pool !== pool) return false;
  if (object === undefined) return true;
  return [objectId, of?.id, from?.id, to?.id].includes(object);
}

/** What one reader may see now. */
export class Sight {
  readonly #catalog: Pick<Catalog, "get">;
  readonly #reader: ActivityReader;
  readonly #tests = new Map<string, Predicate | undefined>();
  /** By type and id: an object has many entries. */
  readonly #seen = new Map<string, boolean>();

  constructor(catalog: Pick<Catalog, "get">, reader: ActivityReader) {
    this.#catalog = catalog;
    this.#reader = reader;
  }

  seesAbout({ objectId, type }: ActivityEntry): boolean {
    return this.#sees(objectId, type);
  }

  /** Without the names of others than the object itself that the reader may not see. */
  of(entry: ActivityEntry): ActivityEntry {
    const { of, from, to, by, ...rest } = entry;
    const { isAdmin, userId } = this.#reader;
    const isShown = by !== undefined && (isAdmin || by.userId === userId);
    return {
      ...rest,
      ...(this.#seesOne(of) ? { of } : {}),
      ...(this.#seesOne(from) ? { from } : {}),
      ...(this.#seesOne(to) ? { to } : {}),
      ...(isShown ? { by } : {}),
    };
  }

  #seesOne(one: Related | undefined): one is Related {
    return one !== undefined && this.#sees(one.id, one.type);
  }

  #sees(id: string, type: string): boolean {
    if (!this.#tests.has(type))
      this.#tests.set(type, this.#reader.readable(type));
    const test = this.#tests.get(type);
    if (test === undefined) return true;
    const key = `${type} ${id}`;
    let sees = this.#seen.get(key);
    if (sees === undefined) {
      // What is gone, or of another type now, is for those who may see all of its type.
      const object = this.#catalog.get(id);
      sees = object?.type === type && evaluatePredicate(test, object.json);
      this.#seen.set(key, sees);
    }
    return sees;
  }
}
