import type { Predicate } from "../filter/predicate.js";

/** Which objects, in which order. */
export interface Selection {
  /** As objects call it: `VM`, `VM-template`, `host`, ... */
  readonly type: string;
  /** In the language of CONTRACT 4. */
  readonly filter?: string;
  /** None but these, at most 1,000. They are found at once, however many objects there are. */
  readonly ids?: readonly string[];
  /** Words; each must stand in one of the type's searched fields, case ignored. */
  readonly search?: string;
  /** Default: by name_label. Equal objects follow in the order of their ids. */
  readonly sort?: readonly SortKey[];
  /** What else must hold, for readers within the process (rights). Compared by identity. */
  readonly where?: Predicate;
}

export interface SortKey {
  /** A path such as `name_label` or `memory.size`. Objects without it come last. */
  readonly by: string;
  readonly descending?: boolean;
}

export interface PageRequest extends Selection {
  /** Objects at most; default: all. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly after?: string;
  /** Top-level fields, `now` and `now.cpu`...; default: the whole object, without `now`. */
  readonly fields?: readonly string[];
}

export interface Page {
  /** Canonical JSON of each object. */
  readonly rows: readonly Buffer[];
  readonly ids: readonly string[];
  /** Number of objects that match, on all pages. */
  readonly total: number;
  /** Where the next page begins; it stays right when objects come and go. Absent on the last. */
  readonly next?: string;
  /** Of the feed, at the time of the answer. */
  readonly revision: number;
}

export interface Group {
  /** The value that these objects share; undefined: they have none. For lists (tags) each member counts. */
  readonly key: unknown;
  readonly count: number;
}

export interface ColumnsRequest extends Omit<Selection, "sort"> {
  /** Such as `name_label`, `memory.size`, `now.cpu`; 8 at most. */
  readonly paths: readonly string[];
  /** `state` of an answer to the same selection: what is as it was then is left out. */
  readonly known?: string;
  /** Objects at most; default and most: 200,000. */
  readonly limit?: number;
}

/** Some properties of all objects that match, a column each, in one order that has no meaning and stays as long as the objects do. */
export interface ColumnsAnswer {
  /** Of the feed, at the time of the answer. */
  readonly revision: number;
  /** Number of objects that match. */
  readonly total: number;
  /** Names what was told, for `known` of the next request. */
  readonly state: string;
  /** JSON list of the ids. Absent: the same objects as in the known state. */
  readonly ids?: Buffer;
  /**
   * By path; absent: all values are as in the known state. JSON: `{values}`, null
   * for what is missing; `{values, indexes}` where the same values come often: an
   * object's value is `values[index]`; `{step, values}` for `now.*`: whole numbers
   * of steps, the value is `step` times it.
   */
  readonly columns: ReadonlyMap<string, Buffer>;
}

export interface LiveRequest extends Selection {
  /** The reader's window on the result. */
  readonly offset: number;
  readonly limit: number;
  readonly fields?: readonly string[];
}

/** What a reader of a live query gets: first everything in its window, then what differs. Apply in the order of the fields. */
export interface LiveUpdate {
  /** Of the feed. */
  readonly revision: number;
  /** Number of objects that match, in and out of the window. */
  readonly total: number;
  readonly offset: number;
  /** At place `at` of the window `remove` ids go and `insert` ids come. Absent: the same ids as before. */
  readonly splice?: {
    readonly at: number;
    readonly remove: number;
    readonly insert: readonly string[];
  };
  /** Objects that are new in the window, whole, canonical JSON by id. */
  readonly objects: ReadonlyMap<string, Buffer>;
  /** RFC 7386 patches of objects that were in the window before, by id. */
  readonly patches: ReadonlyMap<string, Buffer>;
  /** Sum of the digests (digest.ts) of all objects in the window, with the fields that were asked for; 16 hexadecimal digits. */
  readonly digest: string;
}

export interface LiveQuery {
  /** Another window, filter or order: the next update tells the difference. */
  change(request: Partial<LiveRequest>): Promise<void>;
  close(): void;
}

/** Questions about the catalog. A class is followed from the first question on. */
export interface Queries {
  page(request: PageRequest): Promise<Page>;
  count(selection: Selection): Promise<number>;
  /**
   * Figures and names of very many objects at once, for pictures of all of them.
   * @throws XoError INVALID_PARAMETERS when they are more than 64 MiB of JSON
   */
  columns(request: ColumnsRequest): Promise<ColumnsAnswer>;
  /** @param by a path: `$pool`, `$container`, `power_state`, `os_version.distro`, `tags`, ... */
  group(selection: Selection, by: string): Promise<readonly Group[]>;
  /** The first update comes before the promise resolves; later ones at the end of a window in which something differed. */
  live(
    request: LiveRequest,
    listener: (update: LiveUpdate) => void,
  ): Promise<LiveQuery>;
  /** What is measured of the objects of a type's class, which is followed from then on. @throws XoError INVALID_PARAMETERS for an unknown type */
  metrics(type: string): MetricsTable;
  readonly stats: QueryStats;
  stop(): void;
}

/**
 * What hosts measure lately, by object: numbers that change all the time and so
 * are no part of an object. Filters, orders and fields know them as `now.cpu`,
 * `now.memory`, `now.disk`, `now.network`.
 */
export interface MetricsTable {
  /**
   * Nothing is kept of an object that is not there, or not there yet.
   * @param metric its index in metricNames
   * @param value NaN: not known
   */
  set(id: string, metric: number, value: number): void;
  /** As it was set last, or NaN. */
  get(id: string, metric: number): number;
  /** What was set since the last commit becomes visible: orders and filters on it are made anew, readers told, in slices. */
  commit(): void;
}

export interface QueryStats {
  /** Bytes of columns by estimate, and their bound. */
  readonly columns: number;
  readonly columnBytes: number;
  readonly columnLimitBytes: number;
  /** Of what is measured, besides the columns: 64 bytes a row of each class that something was asked of, and room to grow. */
  readonly metricsBytes: number;
  /** Distinct (filter, sort) that are kept up to date, and who reads them. */
  readonly results: number;
  readonly subscriptions: number;
}
