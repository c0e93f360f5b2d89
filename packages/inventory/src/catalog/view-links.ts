import { isRef, type Ref } from "@xo-server/model";
import type { Inventory } from "../inventory.js";
import type { XapiRecord } from "../store/record-rows.js";
import type { View, ViewLinks } from "../views/view.js";
import { hashText } from "./packed-text.js";
import type { PoolDirectory } from "./pool-directory.js";

/** Seeds beyond any pool's number, so that the three kinds of reads do not meet. */
const CONTENT = 1 << 16;
const UUID = 1 << 17;

/** Where a list of references is looked through for one that was read already: most repeats follow at once. */
const LOOK_BACK = 8;

/** Many views read the same few SRs and hosts; metrics, of which there are many, are each read by one. */
const FEW = 1024;

/** Hash of "the object that `ref` points to is there, under its id". */
export function idHash(pool: number, ref: Ref): number {
  return hashText(ref, pool);
}

/** Hash of "what the record that `ref` points to says". */
export function contentHash(pool: number, ref: Ref): number {
  return hashText(ref, pool | CONTENT);
}

/** Hash of "which record has this uuid". */
export function uuidHash(pool: number, uuid: string): number {
  return hashText(uuid, pool | UUID);
}

export interface LinkSources {
  readonly inventory: Inventory;
  readonly pools: PoolDirectory;
  readonly views: ReadonlyMap<string, View>;
  /** The id of a record whose row is up to date; undefined: look at the record. */
  readonly shownId: (
    pool: number,
    className: string,
    ref: Ref,
  ) => string | undefined;
  /** A view is made with this id, from the record. */
  readonly onIdRead: (className: string, read: IdRead) => void;
}

export interface IdRead {
  readonly pool: number;
  readonly ref: Ref;
  readonly id: string | undefined;
}

/** What a view reads beside its record, and a note of all that it has read: also of what was not there, so that its coming is noticed. */
export class RecordedLinks implements ViewLinks {
  readonly #sources: LinkSources;
  readonly #classes = new Set<string>();
  readonly #uuidClasses = new Set<string>();
  #pool = 0;
  #poolName = "";
  #readsPool = false;
  #hashes = new Int32Array(64);
  #count = 0;

  constructor(sources: LinkSources) {
    this.#sources = sources;
  }

  /** Forgets what was read, for a record of this pool. */
  begin(pool: number): void {
    this.#pool = pool;
    this.#poolName = this.#sources.pools.name(pool);
    this.#readsPool = false;
    this.#count = 0;
  }

  /** Hashes of what was read since `begin`: the first `count`. */
  get hashes(): Int32Array {
    return this.#hashes;
  }
  get count(): number {
    return this.#count;
  }
  get readsPool(): boolean {
    return this.#readsPool;
  }

  /** Classes of which anything was ever read. */
  get classes(): ReadonlySet<string> {
    return this.#classes;
  }

  /** Classes of which a record was ever looked up by its uuid. */
  get uuidClasses(): ReadonlySet<string> {
    return this.#uuidClasses;
  }

  get poolId(): string | undefined {
    return this.#sources.pools.id(this.#pool);
  }

  id(className: string, ref: unknown): string | undefined {
    if (!isRef(ref)) return undefined;
    this.#classes.add(className);
    this.#note(idHash(this.#pool, ref));
    const pool = this.#pool;
    const shown = this.#sources.shownId(pool, className, ref);
    if (shown !== undefined) return shown;
    const id = this.#idOf(className, ref);
    this.#sources.onIdRead(className, { pool, ref, id });
    return id;
  }

  ids(className: string, refs: unknown): string[] {
    if (!Array.isArray(refs)) return [];
    const ids: string[] = [];
    for (const ref of refs) {
      const id = this.id(className, ref);
      if (id !== undefined) ids.push(id);
    }
    return ids;
  }

  record(className: string, ref: unknown): XapiRecord | undefined {
    if (!isRef(ref)) return undefined;
    this.#classes.add(className);
    this.#note(contentHash(this.#pool, ref));
    const { inventory } = this.#sources;
    return inventory.count(this.#poolName, className) > FEW
      ? inventory.peek(this.#poolName, className, ref)
      : inventory.get(this.#poolName, className, ref);
  }

  recordByUuid(className: string, uuid: string): XapiRecord | undefined {
    this.#uuidClasses.add(className);
    this.#note(uuidHash(this.#pool, uuid));
    const found = this.#sources.inventory.getByUuid(uuid, this.#poolName);
    if (found?.className !== className) return undefined;
    return this.record(className, found.ref);
  }

  pool(): XapiRecord | undefined {
    this.#readsPool = true;
    const ref = this.#sources.pools.ref(this.#pool);
    return ref === undefined
      ? undefined
      : this.#sources.inventory.get(this.#poolName, "pool", ref);
  }

  #idOf(className: string, ref: Ref): string | undefined {
    const { inventory, views } = this.#sources;
    const poolId = this.#poolName;
    const view = views.get(className);
    if (view?.idOf === undefined) {
      const uuid = inventory.column({ poolId, className, ref }, "uuid");
      return typeof uuid === "string" ? uuid : undefined;
    }
    const record = inventory.peek(poolId, className, ref);
    return record && view.idOf({ ref, record, links: this });
  }

  #note(hash: number): void {
    const from = Math.max(0, this.#count - LOOK_BACK);
    for (let i = from; i < this.#count; i++)
      if (this.#hashes[i] === hash) return;
    if (this.#count === this.#hashes.length) {
      const grown = new Int32Array(2 * this.#count);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#hashes[this.#count++] = hash;
  }
}
