import type { Priority, Steps } from "../slicer/slicer.js";
import type { ViewObject } from "../views/view.js";
import type { Predicate } from "../filter/predicate.js";
import type { Digest } from "./digest.js";

/**
 * The objects of all pools as clients see them (views). Rows are numbered per
 * class, across pools.
 */
export interface Catalog {
  /** All object types. */
  readonly types: readonly string[];
  /** The XAPI class of an object type; undefined for an unknown type. */
  classOf(type: string): string | undefined;
  /**
   * Keeps a table of the objects of a class from now on. Resolves when it has
   * all of them, after slices of the event loop. Further calls return the same
   * table. An object is built when it is read.
   * @param onBegin called with the table before its first row is added, only by
   *   the call that starts it: an observer registered there is notified of
   *   every row
   * @param priority of the slices that fill the table; that of the most urgent call counts
   * @throws XoError INVALID_PARAMETERS for a class without a view
   */
  follow(
    className: string,
    onBegin?: (table: ViewTable) => void,
    priority?: Priority,
  ): Promise<ViewTable>;
  /** Complete tables by class name. */
  readonly tables: ReadonlyMap<string, ViewTable>;
  /**
   * Finds an object by its id or its XAPI reference, of any class, followed or
   * not.
   */
  get(id: string): CatalogEntry | undefined;
  /** Id of the connection of the object's pool; undefined: unknown object. Nothing is encoded. */
  poolOf(id: string): string | undefined;
  /**
   * Resolves when all changes known to the inventory have been applied to the
   * views and published.
   */
  settled(): Promise<void>;
  /**
   * Resolves when the tables have the objects of all pools that are not being
   * loaded (`MirrorStatus.isLoading`). While others are, some that have been
   * loaded may be missing, until the next additions to the tables.
   */
  loaded(): Promise<void>;
  readonly feed: ViewFeed;
  readonly stats: CatalogStats;
  stop(): void;
}

export interface CatalogEntry {
  readonly id: string;
  readonly type: string;
  /** Id of the pool connection, not the pool's UUID. */
  readonly pool: string;
  /** Canonical JSON in UTF-8. */
  readonly json: Buffer;
}

/**
 * The views of one class. A row number is reused only after the removal of its
 * object has been published.
 */
export interface ViewTable {
  readonly className: string;
  /** Rows are 0 to `rows` - 1; some are free. */
  readonly rows: number;
  /** Number of objects. */
  readonly count: number;
  isLive(row: number): boolean;
  id(row: number): string;
  /**
   * Writes the id as ASCII if it is a UUID, without creating a string. @returns
   * the number of bytes; 0 when the id is not a UUID
   */
  writeId(row: number, bytes: Uint8Array, at: number): number;
  type(row: number): string;
  /** Id of the row's pool connection. */
  pool(row: number): string;
  findId(id: string): number;
  /** Feed revision of the row's last change. */
  revision(row: number): number;
  /**
   * The object as canonical JSON (RFC 8785) in UTF-8, encoded once for all
   * readers. Must not be changed.
   */
  json(row: number): Buffer;
  /** The object. Must not be changed. */
  object(row: number): ViewObject;
  /**
   * Calls `visit` with access to properties of the object: cheaper than
   * `object` for a few properties of many objects.
   */
  readRow(row: number, visit: (object: ObjectReader) => void): void;
  /**
   * Some top-level properties of the object, for encoding them; absent ones are undefined.
   * @returns undefined: reading `json` is as cheap, as it was read before, or as some of the
   *   properties cannot be read singly
   */
  members(row: number, names: readonly string[]): ViewObject | undefined;
  /**
   * Whether the object satisfies a predicate. The result is cached until the
   * object changes: for predicates that are evaluated repeatedly, such as the
   * rights of a user.
   */
  passes(row: number, test: Predicate): boolean;
  /**
   * Like `passes`, without caching: for predicates of one request. Only the fields that
   * the predicate declares are read, where they can be read singly.
   */
  matches(row: number, test: Predicate): boolean;
  /**
   * Number of objects and digest of one type. Encodes the objects of the class
   * that have not been read so far.
   */
  summary(type: string): TypeSummary;
  observe(observer: RowObserver): () => void;
  /**
   * Runs steps in slices of the event loop.
   * @param lane default: that of the views, one task after the other
   */
  run(steps: Steps, lane?: string, priority?: Priority): Promise<void>;
}

export interface TypeSummary {
  readonly count: number;
  /** Sum of the digests of all objects of the type, see digest.ts. */
  readonly digest: Digest;
}

/** Access to one object; only valid during the call that gets it. */
export interface ObjectReader {
  /** The value at a path; undefined if the object does not have it. */
  value(path: readonly string[]): unknown;
  /** The whole object. Must not be changed. */
  object(): ViewObject;
}

/** Notified of every row that is new or may have changed. */
export interface RowObserver {
  /**
   * The row is new or may have changed. Everything that is read from the object is
   * a dependency: the row is set again when it changes.
   */
  rowSet(row: number, object: ObjectReader): void;
  /** Called while the removed row's id can still be read. */
  rowRemoved(row: number): void;
  /** All rows notified since the last call are published. */
  flushed(): void;
}

export type ViewChangeKind = "add" | "update" | "remove";

export interface ViewChange {
  readonly row: number;
  readonly id: string;
  readonly type: string;
  readonly pool: string;
  readonly kind: ViewChangeKind;
  /** Canonical JSON of the whole object; absent for `remove`. */
  readonly json?: Buffer;
  /**
   * RFC 7386 patch from the previous version; absent when that is no longer
   * cached or no patch can express the change.
   */
  readonly patch?: Buffer;
}

/**
 * The changes of one class in one window. An object occurs once, however often
 * it changed; except with another type: a `remove` and an `add` of the same
 * row.
 */
export interface Frame {
  readonly className: string;
  /** Revisions of the changes: one each, from `first` to `last`. */
  readonly first: number;
  readonly last: number;
  readonly changes: readonly ViewChange[];
  /** Summaries after the frame, of the types that changed. */
  readonly summaries: ReadonlyMap<string, TypeSummary>;
  /** Retained bytes, including cached encodings. */
  readonly byteLength: number;
  /**
   * The frame in one encoding: `encode` runs at the first call per name, later
   * calls return the same bytes.
   * @param encoding name of the encoding, unique for what `encode` produces
   */
  encoded(encoding: string, encode: (frame: Frame) => Buffer): Buffer;
}

/** What a subscriber of the feed has read. */
export interface FeedReader {
  /**
   * Revision up to which it has read the frames; Infinity: it reads each frame when it is
   * notified. Absent: it may read any frame later.
   */
  readonly readRevision?: () => number;
}

/**
 * Frames of all followed classes, while it has subscribers. Frames that not all of them
 * have read are retained for five minutes, up to a bound of bytes.
 */
export interface ViewFeed {
  /** Random per process: cursors of another process are not valid here. */
  readonly feedId: string;
  readonly revision: number;
  /**
   * Frames after a cursor; "resync" when some are no longer retained, when the
   * feed had no subscriber meanwhile, or when the cursor is of another process:
   * read everything again.
   */
  since(cursor: FeedCursor): readonly Frame[] | "resync";
  /**
   * Objects are encoded, and patches computed, only while there are
   * subscribers.
   */
  subscribe(listener: (frame: Frame) => void, reader?: FeedReader): () => void;
}

export interface FeedCursor {
  readonly feedId: string;
  readonly revision: number;
}

export interface CatalogStats {
  readonly classes: number;
  readonly objects: number;
  /** Bytes of row tables and dependency indexes. */
  readonly tableBytes: number;
  /** Cache of encoded objects. */
  readonly cache: {
    readonly objects: number;
    readonly bytes: number;
    readonly limitBytes: number;
    readonly hits: number;
    readonly misses: number;
  };
  readonly feedBytes: number;
  /** Rows updated without building their objects. */
  readonly refreshed: number;
  /** Views built for the feed, and those that were equal to the previous version. */
  readonly built: number;
  readonly unchanged: number;
}
