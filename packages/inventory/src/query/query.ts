import type { Predicate } from "../filter/predicate.js";

/** Selects and orders objects. */
export interface Selection {
  /** Object type: `VM`, `VM-template`, `host`, ... */
  readonly type: string;
  /** Filter expression, see packages/filter. */
  readonly filter?: string;
  /** An object whose properties are compared, see createObjectFilter; in addition to the filter. */
  readonly pattern?: object;
  /**
   * Only these objects, at most 1,000. They are looked up directly, independent
   * of the number of objects.
   */
  readonly ids?: readonly string[];
  /** Words; each must occur in one of the type's searched fields, ignoring case. */
  readonly search?: string;
  /** Default: by name_label. Equal objects are ordered by id. */
  readonly sort?: readonly SortKey[];
  /**
   * Additional predicate for callers in the process (authorization). Compared
   * by identity.
   */
  readonly where?: Predicate;
}

export interface SortKey {
  /**
   * A path such as `name_label` or `memory.size`. Objects without a value are
   * last.
   */
  readonly by: string;
  readonly descending?: boolean;
}

export interface PageRequest extends Selection {
  /** Maximum number of objects; default: all. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly after?: string;
  /** Top-level fields, `now` and `now.cpu`...; default: the whole object, without `now`. */
  readonly fields?: readonly string[];
}

export interface Page {
  /** Canonical JSON of each object in UTF-8. */
  readonly rows: readonly Buffer[];
  readonly ids: readonly string[];
  /** Number of matching objects on all pages. */
  readonly total: number;
  /**
   * Cursor of the next page; stays valid when objects are added or removed.
   * Absent on the last page.
   */
  readonly next?: string;
  /** Feed revision of the response. */
  readonly revision: number;
}

export interface Group {
  /**
   * The common value; undefined for objects without one. Of lists (tags) each
   * member counts.
   */
  readonly key: unknown;
  readonly count: number;
}

export interface ColumnsRequest extends Omit<Selection, "sort"> {
  /** Paths such as `name_label`, `memory.size`, `now.cpu`; at most 8. */
  readonly paths: readonly string[];
  /**
   * `state` of a previous response to the same selection: unchanged parts are
   * left out.
   */
  readonly known?: string;
  /** Maximum number of objects; default and limit: 200,000. */
  readonly limit?: number;
}

/**
 * Properties of all matching objects, one column each. The order of the objects
 * is arbitrary but stable while the set of objects is the same.
 */
export interface ColumnsAnswer {
  /** Feed revision of the response. */
  readonly revision: number;
  /** Number of matching objects. */
  readonly total: number;
  /** Identifies the content of the response, for `known` of the next request. */
  readonly state: string;
  /** JSON array of ids. Absent: the same objects as in the known state. */
  readonly ids?: Buffer;
  /**
   * JSON by path; absent: all values are as in the known state. `{values}`,
   * with null for missing values; `{values, indexes}` when values repeat: an
   * object's value is `values[index]`; `{step, values}` for `now.*`: integers,
   * the value is `step` times the integer.
   */
  readonly columns: ReadonlyMap<string, Buffer>;
}

export interface LiveRequest extends Selection {
  /** The window: index of its first object and number of objects. */
  readonly offset: number;
  readonly limit: number;
  readonly fields?: readonly string[];
  /** Metrics may be a minute old: they are not measured more often for this query. */
  readonly acceptsOldMetrics?: boolean;
}

/**
 * An update of a live query: first the whole window, then differences. Apply
 * the fields in their order.
 */
export interface LiveUpdate {
  /** Feed revision. */
  readonly revision: number;
  /** Number of matching objects, in the window or not. */
  readonly total: number;
  readonly offset: number;
  /**
   * At index `at` of the window, `remove` ids are removed and `insert` ids
   * inserted. Absent: the same ids as before.
   */
  readonly splice?: {
    readonly at: number;
    readonly remove: number;
    readonly insert: readonly string[];
  };
  /** Whole objects that are new in the window: canonical JSON by id. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** RFC 7386 patches of objects that were in the window before, by id. */
  readonly patches: ReadonlyMap<string, Buffer>;
  /**
   * Sum of the digests (digest.ts) of all objects in the window with the
   * requested fields: 16 hexadecimal digits. Lets a client verify its copy.
   */
  readonly digest: string;
}

/** A query whose changes are sent to its listener until it is closed. */
export interface LiveQuery {
  /**
   * Changes window, filter, search, order or fields; the next update contains
   * the difference. Resolves after that update; when another change replaces
   * this one, also without it.
   */
  change(request: Partial<LiveRequest>): Promise<void>;
  close(): void;
}

/**
 * Queries on the catalog. A class is followed from its first query on. Methods
 * throw XoError INVALID_PARAMETERS for unknown types, wrong paths and exceeded
 * limits, FILTER_INVALID for a wrong filter, and CLOSED after `stop`.
 */
export interface Queries {
  page(request: PageRequest): Promise<Page>;
  count(selection: Selection): Promise<number>;
  /** Selected properties of very many objects at once, for overviews. */
  columns(request: ColumnsRequest): Promise<ColumnsAnswer>;
  /** Ids of all matching objects, in no particular order. */
  ids(selection: Selection): Promise<readonly string[]>;
  /** @param by a path: `$pool`, `$container`, `power_state`, `os_version.distro`, `tags`, ... */
  group(selection: Selection, by: string): Promise<readonly Group[]>;
  /**
   * Subscribes to a live query. The first update is delivered before the
   * promise resolves; later ones at the end of each window with a difference.
   * @throws XoError TOO_MANY_REQUESTS at the limit of different live queries
   */
  live(
    request: LiveRequest,
    listener: (update: LiveUpdate) => void,
  ): Promise<LiveQuery>;
  /**
   * The metrics table of a type's class, which is followed from then on.
   * @throws XoError INVALID_PARAMETERS for an unknown type
   */
  metrics(type: string): MetricsTable;
  /**
   * Whether metrics are being read, or have been since the last call: by live
   * queries without `acceptsOldMetrics`, pages, counts, groups, columns or `get`
   * of a metrics table.
   */
  takeMetricsUse(): boolean;
  /**
   * Fills the columns that a search needs, of the classes that have been listed;
   * to be called when `preparesSearch` of the options has become true.
   */
  prepareSearches(): void;
  readonly stats: QueryStats;
  stop(): void;
}

/**
 * The latest metrics by object: numbers that change all the time and therefore
 * are not part of objects. In filters, sort keys and fields they are `now.cpu`,
 * `now.memory`, `now.disk`, `now.network`.
 */
export interface MetricsTable {
  /** Sets a value; ignored for an object that does not exist (yet). */
  set(id: string, metric: number, value: number): void;
  /** The value that was set last, or NaN. */
  get(id: string, metric: number): number;
  /**
   * Publishes the values set since the last commit: results that depend on them
   * are updated and subscribers notified, in slices.
   */
  commit(): void;
}

export interface QueryStats {
  /** Number of columns, their estimated bytes, and the bound. */
  readonly columns: number;
  readonly columnBytes: number;
  readonly columnLimitBytes: number;
  /**
   * Bytes of metrics, in addition to the columns: 64 per row of each queried
   * class, and room for growth.
   */
  readonly metricsBytes: number;
  /**
   * Number of different results (filter, search, sort) that are kept up to
   * date, and of subscriptions.
   */
  readonly results: number;
  readonly subscriptions: number;
}
