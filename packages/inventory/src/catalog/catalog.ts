import type { Steps } from "../slicer/slicer.js";
import type { ViewObject } from "../views/view.js";
import type { Predicate } from "../filter/predicate.js";
import type { Digest } from "./digest.js";

/** The objects of all pools as the outside sees them. Rows are numbered by class, across pools. */
export interface Catalog {
  /** Types that there are views for. */
  readonly types: readonly string[];
  /** The class whose records have this type; undefined for an unknown type. */
  classOf(type: string): string | undefined;
  /**
   * Keeps the views of a class from now on. Resolves when those of all records
   * that are there have been made, in slices of the event loop.
   * @param onBegin called with the table before its first row is made, if this
   *   call is the one that begins: who observes it from there hears of every row
   * @throws XoError INVALID_PARAMETERS for a class without a view
   */
  follow(
    className: string,
    onBegin?: (table: ViewTable) => void,
  ): Promise<ViewTable>;
  /** The tables of followed classes that are complete. */
  readonly tables: ReadonlyMap<string, ViewTable>;
  /** One object by its id, or by its XAPI reference; of any class, followed or not. */
  get(id: string): CatalogEntry | undefined;
  /** Resolves when the views of all that has changed by now have been made and told. */
  settled(): Promise<void>;
  readonly feed: ViewFeed;
  readonly stats: CatalogStats;
  stop(): void;
}

export interface CatalogEntry {
  readonly id: string;
  readonly type: string;
  /** The inventory's name for the pool, not its uuid. */
  readonly pool: string;
  readonly json: Buffer;
}

/** The views of one class. A row keeps its number until its removal has been told; then another object may get it. */
export interface ViewTable {
  readonly className: string;
  /** Rows are 0 to `rows` - 1; some are free. */
  readonly rows: number;
  /** Number of objects. */
  readonly count: number;
  isLive(row: number): boolean;
  id(row: number): string;
  /** The id's bytes, where it is a uuid: as text it would be made and encoded again. @returns how many; 0: it is none */
  writeId(row: number, bytes: Uint8Array, at: number): number;
  type(row: number): string;
  /** The inventory's name for the row's pool. */
  pool(row: number): string;
  findId(id: string): number;
  /** Revision (of the feed) of the row's last change. */
  revision(row: number): number;
  /** The object as canonical JSON (RFC 8785) in UTF-8, made once for all readers. Not to be changed. */
  json(row: number): Buffer;
  /** The same as an object. Not to be changed. */
  object(row: number): ViewObject;
  /**
   * Whether the object passes a test. The answer is remembered until the object
   * changes: for tests that are asked again and again, such as what somebody may see.
   */
  passes(row: number, test: Predicate): boolean;
  /** Number of objects and digest of one type. */
  summary(type: string): TypeSummary;
  observe(observer: RowObserver): () => void;
  /** Work in slices of the event loop, behind what changes bring. */
  run(steps: Steps): Promise<void>;
}

export interface TypeSummary {
  readonly count: number;
  /** Sum of the digests of all objects of the type: see digest.ts. */
  readonly digest: Digest;
}

/** Hears of every row as it is made: while `view` is at hand, nobody has to read it again. */
export interface RowObserver {
  /** The row is new or differs from before. */
  rowSet(row: number, view: ViewObject): void;
  /** Called before the row's number is free; its id can still be read. */
  rowRemoved(row: number): void;
  /** The rows told since the last time are all of a window; the feed has them under these revisions. */
  flushed(frame: Frame): void;
}

export type ViewChangeKind = "add" | "update" | "remove";

export interface ViewChange {
  readonly row: number;
  readonly id: string;
  readonly type: string;
  readonly pool: string;
  readonly kind: ViewChangeKind;
  /** The whole object; absent for `remove`. */
  readonly json?: Buffer;
  /** RFC 7386 patch from the object of before, where that was still known. */
  readonly patch?: Buffer;
}

/** What one window brought for one class. A change of an object comes once a window, however often it changed. */
export interface Frame {
  readonly className: string;
  /** Of the changes: `first` to `last`, one each. */
  readonly first: number;
  readonly last: number;
  readonly changes: readonly ViewChange[];
  /** Types that changed, as they are after it. */
  readonly summaries: ReadonlyMap<string, TypeSummary>;
  /** Bytes that it holds. */
  readonly byteLength: number;
  /** The frame in a reader's dress, encoded at the first call and shared by all later ones. */
  encoded(dress: string, encode: (frame: Frame) => Buffer): Buffer;
}

/** Frames of all followed classes, remembered up to a bound of bytes. */
export interface ViewFeed {
  /** Of this process: cursors of another one mean nothing here. */
  readonly epoch: string;
  readonly revision: number;
  /** Frames after `revision`; `resync`: too long ago, of another epoch or never: read everything. */
  since(cursor: FeedCursor): readonly Frame[] | "resync";
  subscribe(listener: (frame: Frame) => void): () => void;
}

export interface FeedCursor {
  readonly epoch: string;
  readonly revision: number;
}

export interface CatalogStats {
  readonly classes: number;
  readonly objects: number;
  /** Bytes of row tables and of the index of dependencies. */
  readonly tableBytes: number;
  /** Encoded objects that are kept. */
  readonly cache: {
    readonly objects: number;
    readonly bytes: number;
    readonly limitBytes: number;
    readonly hits: number;
    readonly misses: number;
  };
  readonly feedBytes: number;
  /** Views made, and those of them that turned out as before. */
  readonly built: number;
  readonly unchanged: number;
}
