import { XoError } from "@xo-server/model";
import {
  silentLogger,
  wallClock,
  type Logger,
  type WallClock,
} from "@xo-server/kit";
import type { Catalog, ViewTable } from "../catalog/catalog.js";
import { viewOf } from "../views/views.js";
import { ClassIndex } from "./class-index.js";
import { ColumnBudget } from "./column-budget.js";
import { fromStateText } from "./columns-state.js";
import { readGroups } from "./group.js";
import {
  WindowSubscription,
  type PreparedRequest,
  type OpenWindow,
} from "./window-subscription.js";
import { DeferredMetricsTable } from "./latest-metrics.js";
import { MetricsUse, usesMetrics } from "./metrics-use.js";
import { openWindow } from "./open-window.js";
import { readPage } from "./page.js";
import { readColumns } from "./read-columns.js";
import { readIds } from "./read-ids.js";
import type {
  ColumnsAnswer,
  ColumnsRequest,
  Group,
  LiveQuery,
  LiveRequest,
  LiveUpdate,
  MetricsTable,
  Page,
  PageRequest,
  Queries,
  QueryStats,
  Selection,
} from "./query.js";
import {
  checkColumnPaths,
  checkFields,
  checkPath,
  checkInteger,
  invalid,
  queryLimits,
  compileQuery,
  withoutOrder,
  type CompiledQuery,
} from "./request.js";
import type { Result } from "./result.js";
import { toPath } from "./value-path.js";
import { ResultCache, type ResultHandle } from "./result-cache.js";
import type { SlicedTask } from "./sliced-task.js";

export interface QueriesOptions {
  readonly clock?: WallClock;
  /**
   * Bound of columns in bytes (estimated), exceeded only while live queries
   * need more. Default: 256 MiB.
   */
  readonly columnBytes?: number;
  readonly logger?: Logger;
  /**
   * Number of different results (filter, search, sort) that are kept up to
   * date; default 2,000. Each costs 4 bytes per matching object and a bit per
   * object.
   */
  readonly maxResults?: number;
  /**
   * How long an unused result is kept up to date, in milliseconds; default
   * 10,000.
   */
  readonly lingerMs?: number;
  /**
   * Whether the columns that a search needs are filled when a class has been
   * listed: not while pools are being loaded. Default: never.
   */
  readonly preparesSearch?: () => boolean;
  /** Searched paths of a class; default: as its view declares. */
  readonly searchedOf?: (className: string) => readonly string[];
}

/** Creates the query engine of a catalog. */
export function createQueries(
  catalog: Catalog,
  options: QueriesOptions = {},
): Queries {
  return new CatalogQueries(catalog, options);
}

class CatalogQueries implements Queries {
  readonly #catalog: Catalog;
  readonly #logger: Logger;
  readonly #searchedOf: (className: string) => readonly string[];
  readonly #budget: ColumnBudget;
  readonly #results: ResultCache;
  readonly #indexes = new Map<string, Promise<ClassIndex>>();
  readonly #started = new Set<ClassIndex>();
  readonly #subscriptions = new Set<WindowSubscription>();
  readonly #metricsUse = new MetricsUse();
  readonly #preparesSearch: () => boolean;
  /** Classes that have been listed. */
  readonly #listed = new Set<ClassIndex>();
  /** Classes whose searched columns have been filled, or are. */
  readonly #prepared = new Set<ClassIndex>();
  /** By class name. */
  readonly #metricsTables = new Map<string, DeferredMetricsTable>();
  #isStopped = false;

  constructor(catalog: Catalog, options: QueriesOptions) {
    this.#catalog = catalog;
    this.#logger = options.logger ?? silentLogger;
    this.#preparesSearch = options.preparesSearch ?? (() => false);
    this.#searchedOf =
      options.searchedOf ?? ((className) => viewOf(className)?.searched ?? []);
    this.#budget = new ColumnBudget(options.columnBytes ?? 256 << 20);
    this.#results = new ResultCache({
      clock: options.clock ?? wallClock,
      budget: this.#budget,
      maxResults: options.maxResults ?? 2_000,
      lingerMs: options.lingerMs ?? 10_000,
    });
  }

  async page(request: PageRequest): Promise<Page> {
    const query = this.#compile(request);
    const fields = checkFields(request.fields);
    const limit =
      request.limit === undefined
        ? Infinity
        : checkInteger("limit", request.limit, [1, Number.MAX_SAFE_INTEGER]);
    if (usesMetrics(query, fields)) this.#metricsUse.note();
    const index = await this.#index(query.type);
    const projection = index.acquireProjection(fields);
    try {
      const range = { limit, after: request.after };
      return await this.#withResult(index, query, (result) =>
        readPage(result, projection, range, this.#revision),
      );
    } finally {
      index.releaseProjection(projection);
      this.#prepareSearch(index);
    }
  }

  async count(selection: Selection): Promise<number> {
    return this.#withUnorderedResult(selection, function* (result) {
      yield* result.catchUp();
      return result.count;
    });
  }

  ids(selection: Selection): Promise<readonly string[]> {
    return this.#withUnorderedResult(selection, readIds);
  }

  async group(selection: Selection, by: string): Promise<readonly Group[]> {
    const path = checkPath(by);
    return this.#withUnorderedResult(selection, (result) =>
      readGroups(result, path),
    );
  }

  async columns(request: ColumnsRequest): Promise<ColumnsAnswer> {
    const { limit, known, paths, ...selection } = request;
    const { feedId } = this.#catalog.feed;
    const maxRows = queryLimits.columnRows;
    const options = {
      paths: checkColumnPaths(paths),
      limit: checkInteger("limit", limit ?? maxRows, [1, maxRows]),
      known: fromStateText(known, feedId),
      feedId,
    };
    this.#metricsUse.notePaths(options.paths.values());
    return this.#withUnorderedResult(selection, (result) =>
      readColumns(result, options, this.#revision),
    );
  }

  async live(
    request: LiveRequest,
    listener: (update: LiveUpdate) => void,
  ): Promise<LiveQuery> {
    const subscription = new WindowSubscription(request, listener, {
      open: (requested) => this.#open(requested),
      openWindow: (parts) => this.#openWindow(parts),
      onClose: () => this.#subscriptions.delete(subscription),
      logger: this.#logger,
    });
    this.#subscriptions.add(subscription);
    try {
      await subscription.change({});
    } catch (error) {
      subscription.close();
      throw error;
    }
    return subscription;
  }

  metrics(type: string): MetricsTable {
    const className = this.#classOf(type);
    const table = this.#metricsTableOf(className);
    this.#index(type).catch((error: unknown) => {
      this.#logger.error("views of a class could not be built", {
        className,
        error,
      });
    });
    return table;
  }

  takeMetricsUse(): boolean {
    return this.#metricsUse.take();
  }

  prepareSearches(): void {
    for (const index of this.#listed) this.#prepareSearch(index);
  }

  get stats(): QueryStats {
    let columns = 0;
    let metricsBytes = 0;
    for (const index of this.#started) {
      columns += index.columns.count;
      metricsBytes += index.columns.metrics.byteLength;
    }
    return {
      metricsBytes,
      columns,
      columnBytes: this.#budget.byteLength,
      columnLimitBytes: this.#budget.limitBytes,
      results: this.#results.count,
      subscriptions: this.#subscriptions.size,
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const one of [...this.#subscriptions]) one.close();
    this.#results.stop();
    for (const index of this.#started) index.stop();
  }

  readonly #revision = (): number => this.#catalog.feed.revision;

  async #open(request: LiveRequest): Promise<PreparedRequest> {
    const query = this.#compile(request);
    const fields = checkFields(request.fields);
    const range = {
      offset: checkInteger("offset", request.offset, [0, 2 ** 31 - 1]),
      limit: checkInteger("limit", request.limit, [0, queryLimits.window]),
    };
    const index = await this.#index(query.type);
    const handle = this.#results.acquire(index, query, "kept");
    handle.shared.ready.then(
      () => {
        this.#prepareSearch(index);
      },
      // The subscriber gets the error.
      () => undefined,
    );
    const isReader =
      request.acceptsOldMetrics !== true && usesMetrics(query, fields);
    return { handle, query, range, fields, isReader };
  }

  /** Fills the searched columns of a class that has been listed: its clients may search in it next. */
  #prepareSearch(index: ClassIndex): void {
    this.#listed.add(index);
    if (this.#prepared.has(index) || !this.#preparesSearch()) return;
    this.#prepared.add(index);
    const { className } = index.table;
    index
      .prepare(this.#searchedOf(className).map(toPath))
      .catch((error: unknown) => {
        this.#logger.error("searched columns could not be filled", {
          className,
          error,
        });
      });
  }

  #openWindow(parts: PreparedRequest): OpenWindow {
    const open = openWindow(parts, this.#revision);
    if (!parts.isReader) return open;
    const release = this.#metricsUse.open();
    return {
      window: open.window,
      close: () => {
        release();
        open.close();
      },
    };
  }

  /**
   * Reads something that does not depend on the order; reuses a sorted result
   * if one exists.
   */
  async #withUnorderedResult<T>(
    selection: Selection,
    read: (result: Result) => SlicedTask<T>,
  ): Promise<T> {
    const query = this.#compile(selection);
    if (usesMetrics(query)) this.#metricsUse.note();
    const index = await this.#index(query.type);
    const isSorted = index.results.has(query.key);
    return this.#withResult(
      index,
      isSorted ? query : withoutOrder(query),
      read,
    );
  }

  async #withResult<T>(
    index: ClassIndex,
    query: CompiledQuery,
    read: (result: Result) => SlicedTask<T>,
  ): Promise<T> {
    await this.#catalog.loaded();
    const handle = this.#results.acquire(index, query, "once");
    try {
      return await this.#read(handle, read);
    } finally {
      handle.release();
    }
  }

  async #read<T>(
    { shared, index }: ResultHandle,
    read: (result: Result) => SlicedTask<T>,
  ): Promise<T> {
    if (!(await shared.ready)) throw closed();
    const values: T[] = [];
    await index.table.run(
      (function* () {
        values.push(yield* read(shared.result));
      })(),
    );
    return values[0]!;
  }

  #compile(selection: Selection): CompiledQuery {
    if (this.#isStopped) throw closed();
    const className = this.#classOf(selection.type);
    return compileQuery(selection, this.#searchedOf(className));
  }

  #classOf(type: string): string {
    const className = this.#catalog.classOf(type);
    if (className === undefined) throw invalid(`no such type: ${type}`);
    return className;
  }

  #metricsTableOf(className: string): DeferredMetricsTable {
    const table =
      this.#metricsTables.get(className) ??
      new DeferredMetricsTable({
        onError: (error) => {
          this.#logger.error("metrics could not be published", { error });
        },
        onRead: this.#metricsUse.note,
      });
    this.#metricsTables.set(className, table);
    return table;
  }

  /** The index of the class of a type. From now on, changes of the class are tracked. */
  async #index(type: string): Promise<ClassIndex> {
    const className = this.#catalog.classOf(type)!;
    const existing = this.#indexes.get(className);
    if (existing !== undefined) return existing;
    const index = this.#createIndex(className);
    this.#indexes.set(className, index);
    // The caller gets the error; the next call tries again.
    index.catch(() => this.#indexes.delete(className));
    return index;
  }

  async #createIndex(className: string): Promise<ClassIndex> {
    const created: ClassIndex[] = [];
    const shared = { budget: this.#budget, logger: this.#logger };
    const create = (table: ViewTable) => {
      const index = new ClassIndex({ table, ...shared });
      created.push(index);
      this.#metricsTableOf(className).attach(index.columns.metrics);
      this.#started.add(index);
    };
    const table = await this.#catalog.follow(className, create);
    if (this.#isStopped) throw closed();
    if (created.length === 0) create(table);
    const index = created[0]!;
    await index.begin();
    return index;
  }
}

function closed(): XoError {
  return new XoError("CLOSED", { what: "the catalog's queries" });
}
