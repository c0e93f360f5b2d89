import { isRef, type Ref } from "@xo-server/model";
import type { Inventory } from "../mirror/inventory.js";
import type { XapiRecord } from "../store/record-rows.js";
import type { View, ViewLinks } from "../views/view.js";
import { hashAscii, hashText } from "./packed-uuid.js";
import type { LazyRecords } from "./lazy-records.js";
import type { PoolDirectory } from "./pool-directory.js";

/**
 * Seeds above all pool numbers (16 bits), so that the three kinds of
 * dependencies have different hashes.
 */
const CONTENT_SEED = 1 << 16;
const UUID_SEED = 1 << 17;

/**
 * Number of previous entries that are checked for a repeated read: most repeats
 * follow immediately.
 */
const LOOK_BACK = 8;

/**
 * Classes with more objects in a pool are read without the record cache: the few SRs and
 * hosts are read by many views, each of the many metrics only by one.
 */
const MAX_CACHED_COUNT = 1024;
/** The same where single fields are read: parsing a record costs as much as reading many of its columns. */
const MAX_CACHED_COUNT_OF_FIELDS = 64;

/**
 * Dependency on the id of the object that `ref` points to, and on its
 * existence.
 */
export function idHash(pool: number, ref: Ref): number {
  return hashText(ref, pool);
}

/** Dependency on the content of the record that `ref` points to. */
export function contentHash(pool: number, ref: Ref): number {
  return hashText(ref, pool | CONTENT_SEED);
}

/** Dependency on which record has this UUID. */
export function uuidHash(pool: number, uuid: string): number {
  return hashText(uuid, pool | UUID_SEED);
}

export interface LinkSources {
  readonly inventory: Inventory;
  readonly pools: PoolDirectory;
  readonly views: ReadonlyMap<string, View>;
  /**
   * Id of a record whose row is up to date; undefined when it has to be derived
   * from the record.
   */
  readonly currentId: (
    pool: number,
    className: string,
    ref: Ref,
  ) => string | undefined;
  /** Called when an id was derived from a record and used in a view. */
  readonly onIdRead: (className: string, read: IdRead) => void;
}

export interface IdRead {
  readonly pool: number;
  readonly ref: Ref;
  readonly id: string | undefined;
}

/**
 * Links for building a view that record every read as a dependency, including
 * reads of objects that do not exist, so that the view is rebuilt when they are
 * created.
 */
export class RecordedLinks implements ViewLinks {
  readonly #sources: LinkSources;
  readonly #lazyRecords: LazyRecords | undefined;
  readonly #classes = new Set<string>();
  readonly #uuidClasses = new Set<string>();
  #pool = 0;
  #poolName = "";
  #readsPool = false;
  #hashes = new Int32Array(64);
  #count = 0;
  #lastClass = "";
  #lastRef: Ref | undefined;
  #lastRecord: XapiRecord | undefined;

  /** @param lazyRecords absent: records are parsed as a whole */
  constructor(sources: LinkSources, lazyRecords?: LazyRecords) {
    this.#sources = sources;
    this.#lazyRecords = lazyRecords;
  }

  /** Starts a new record of a pool: clears the recorded reads. */
  begin(pool: number): void {
    this.#pool = pool;
    this.#poolName = this.#sources.pools.name(pool);
    this.#readsPool = false;
    this.#count = 0;
    this.#lastRef = undefined;
    this.#lastRecord = undefined;
  }

  /**
   * Hashes of the reads since `begin`: only the first `count` entries are
   * valid.
   */
  get hashes(): Int32Array {
    return this.#hashes;
  }
  get count(): number {
    return this.#count;
  }
  get readsPool(): boolean {
    return this.#readsPool;
  }

  /** Classes of which this view has ever read anything. */
  get classes(): ReadonlySet<string> {
    return this.#classes;
  }

  /** Classes of which this view has ever looked up a record by UUID. */
  get uuidClasses(): ReadonlySet<string> {
    return this.#uuidClasses;
  }

  get poolId(): string | undefined {
    return this.#sources.pools.id(this.#pool);
  }

  id(className: string, ref: unknown): string | undefined {
    if (!isRef(ref)) return undefined;
    this.#classes.add(className);
    this.#recordRead(idHash(this.#pool, ref));
    const pool = this.#pool;
    const shown = this.#sources.currentId(pool, className, ref);
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
    this.#recordRead(contentHash(this.#pool, ref));
    // Several properties of a view read the same record, one after another.
    if (ref !== this.#lastRef || className !== this.#lastClass) {
      this.#lastRecord = this.#find(className, ref);
      this.#lastRef = ref;
      this.#lastClass = className;
    }
    return this.#lastRecord;
  }

  /**
   * Records a read of the record that a reference points to.
   * @param ref the reference in ASCII
   */
  addContent(className: string, ref: Uint8Array, length: number): void {
    this.#classes.add(className);
    this.#recordRead(hashAscii(ref, length, this.#pool | CONTENT_SEED));
  }

  recordByUuid(className: string, uuid: string): XapiRecord | undefined {
    this.#uuidClasses.add(className);
    this.#recordRead(uuidHash(this.#pool, uuid));
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

  #find(className: string, ref: Ref): XapiRecord | undefined {
    const { inventory } = this.#sources;
    const lazy = this.#lazyRecords;
    const count = inventory.count(this.#poolName, className);
    if (count <= (lazy ? MAX_CACHED_COUNT_OF_FIELDS : MAX_CACHED_COUNT))
      return inventory.get(this.#poolName, className, ref);
    return lazy === undefined
      ? inventory.peek(this.#poolName, className, ref)
      : lazy.find(this.#poolName, className, ref);
  }

  #idOf(className: string, ref: Ref): string | undefined {
    const { inventory, views } = this.#sources;
    const poolId = this.#poolName;
    const view = views.get(className);
    if (view?.idOf === undefined) {
      return inventory.getObject(poolId, className, ref)?.uuid;
    }
    // An id needs few fields, and a host has the ids of all its VMs.
    const record =
      this.#lazyRecords === undefined
        ? inventory.peek(poolId, className, ref)
        : this.#lazyRecords.find(poolId, className, ref);
    return record && view.idOf({ ref, record, links: this });
  }

  #recordRead(hash: number): void {
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
