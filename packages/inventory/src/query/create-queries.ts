import { XoError } from "@xo-server/model";
import type { Clock, Logger } from "@xo-server/xen-api";
import type { Catalog, ViewTable } from "../catalog/catalog.js";
import { silentLogger, systemClock } from "../defaults.js";
import { viewOf } from "../views/views.js";
import { ClassIndex } from "./class-index.js";
import { ColumnBudget } from "./column-budget.js";
import { fromStateText } from "./columns-state.js";
import { readGroups } from "./group.js";
import {
  LiveReader,
  type LiveRequestParts,
  type OpenWindow,
} from "./live-reader.js";
import { LaterNowTable } from "./now-table.js";
import { openWindow } from "./open-window.js";
import { readPage } from "./page.js";
import { readColumns } from "./read-columns.js";
import type {
  ColumnsAnswer,
  ColumnsRequest,
  Group,
  LiveQuery,
  LiveRequest,
  LiveUpdate,
  NowTable,
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
  checkWhole,
  invalid,
  queryLimits,
  toQuestion,
  withoutOrder,
  type Question,
} from "./request.js";
import type { Result } from "./result.js";
import { Results, type Lease } from "./results.js";
import type { Work } from "./work.js";

export interface QueriesOptions {
  readonly clock?: Clock;
  /** Bytes of columns, by estimate; more only while live queries need more. Default: 256 MiB. */
  readonly columnBytes?: number;
  readonly logger?: Logger;
  /** Different (filter, search, sort) that are kept up to date at a time; default: 2,000. Each costs 4 bytes an object that matches, and a bit for every object. */
  readonly maxResults?: number;
  /** How long an answer is kept up to date when nobody reads it; default: 10,000. */
  readonly lingerMs?: number;
  /** Which columns of a class are kept ready, and which are searched; default: what its view says. */
  readonly columnsOf?: (className: string) => ClassColumns | undefined;
}

export interface ClassColumns {
  readonly columns: readonly string[];
  readonly searched: readonly string[];
}

export function createQueries(
  catalog: Catalog,
  options: QueriesOptions = {},
): Queries {
  return new CatalogQueries(catalog, options);
}

class CatalogQueries implements Queries {
  readonly #catalog: Catalog;
  readonly #logger: Logger;
  readonly #columnsOf: (className: string) => ClassColumns | undefined;
  readonly #budget: ColumnBudget;
  readonly #results: Results;
  readonly #indexes = new Map<string, Promise<ClassIndex>>();
  readonly #started = new Set<ClassIndex>();
  readonly #readers = new Set<LiveReader>();
  /** By class. */
  readonly #now = new Map<string, LaterNowTable>();
  #isStopped = false;

  constructor(catalog: Catalog, options: QueriesOptions) {
    this.#catalog = catalog;
    this.#logger = options.logger ?? silentLogger;
    this.#columnsOf = options.columnsOf ?? viewOf;
    this.#budget = new ColumnBudget(options.columnBytes ?? 256 << 20);
    this.#results = new Results({
      clock: options.clock ?? systemClock,
      budget: this.#budget,
      most: options.maxResults ?? 2_000,
      lingerMs: options.lingerMs ?? 10_000,
    });
  }

  async page(request: PageRequest): Promise<Page> {
    const question = this.#toQuestion(request);
    const fields = checkFields(request.fields);
    const limit =
      request.limit === undefined
        ? Infinity
        : checkWhole("limit", request.limit, [1, Number.MAX_SAFE_INTEGER]);
    const index = await this.#index(question.type);
    const projection = index.takeProjection(fields);
    try {
      const place = { limit, after: request.after };
      return await this.#ask(index, question, (result) =>
        readPage(result, projection, place, this.#revision),
      );
    } finally {
      index.releaseProjection(projection);
    }
  }

  async count(selection: Selection): Promise<number> {
    return this.#askAtAll(selection, function* (result) {
      yield* result.catchUp();
      return result.count;
    });
  }

  async group(selection: Selection, by: string): Promise<readonly Group[]> {
    const path = checkPath(by);
    return this.#askAtAll(selection, (result) => readGroups(result, path));
  }

  async columns(request: ColumnsRequest): Promise<ColumnsAnswer> {
    const { limit, known, paths, ...selection } = request;
    const { epoch } = this.#catalog.feed;
    const most = queryLimits.columnRows;
    const place = {
      paths: checkColumnPaths(paths),
      limit: checkWhole("limit", limit ?? most, [1, most]),
      known: fromStateText(known, epoch),
      epoch,
    };
    return this.#askAtAll(selection, (result) =>
      readColumns(result, place, this.#revision),
    );
  }

  async live(
    request: LiveRequest,
    listener: (update: LiveUpdate) => void,
  ): Promise<LiveQuery> {
    const reader = new LiveReader(request, listener, {
      open: (asked) => this.#open(asked),
      openWindow: (parts) => this.#openWindow(parts),
      onClose: () => this.#readers.delete(reader),
      logger: this.#logger,
    });
    this.#readers.add(reader);
    try {
      await reader.change({});
    } catch (error) {
      reader.close();
      throw error;
    }
    return reader;
  }

  now(type: string): NowTable {
    const className = this.#classOf(type);
    const now = this.#nowOf(className);
    this.#index(type).catch((error: unknown) => {
      this.#logger.error("a class could not be followed", { className, error });
    });
    return now;
  }

  get stats(): QueryStats {
    let columns = 0;
    let nowBytes = 0;
    for (const index of this.#started) {
      columns += index.columns.count;
      nowBytes += index.columns.measured.byteLength;
    }
    return {
      nowBytes,
      columns,
      columnBytes: this.#budget.byteLength,
      columnLimitBytes: this.#budget.limitBytes,
      results: this.#results.count,
      readers: this.#readers.size,
    };
  }

  stop(): void {
    this.#isStopped = true;
    for (const reader of [...this.#readers]) reader.close();
    this.#results.stop();
    for (const index of this.#started) index.stop();
  }

  readonly #revision = (): number => this.#catalog.feed.revision;

  async #open(request: LiveRequest): Promise<LiveRequestParts> {
    const question = this.#toQuestion(request);
    const fields = checkFields(request.fields);
    const place = {
      offset: checkWhole("offset", request.offset, [0, 2 ** 31 - 1]),
      limit: checkWhole("limit", request.limit, [0, queryLimits.window]),
    };
    const index = await this.#index(question.type);
    const lease = this.#results.take(index, question, "kept");
    return { lease, question, place, fields };
  }

  #openWindow(parts: LiveRequestParts): OpenWindow {
    return openWindow(parts, this.#revision);
  }

  /** Asks for what is the same in any order. */
  async #askAtAll<T>(
    selection: Selection,
    read: (result: Result) => Work<T>,
  ): Promise<T> {
    const question = this.#toQuestion(selection);
    const index = await this.#index(question.type);
    const isSorted = index.results.has(question.key);
    return this.#ask(index, isSorted ? question : withoutOrder(question), read);
  }

  async #ask<T>(
    index: ClassIndex,
    question: Question,
    read: (result: Result) => Work<T>,
  ): Promise<T> {
    const lease = this.#results.take(index, question, "once");
    try {
      return await this.#read(lease, read);
    } finally {
      lease.release();
    }
  }

  async #read<T>(
    { shared, index }: Lease,
    read: (result: Result) => Work<T>,
  ): Promise<T> {
    if (!(await shared.ready)) throw closed();
    const answers: T[] = [];
    await index.table.run(
      (function* () {
        answers.push(yield* read(shared.result));
      })(),
    );
    return answers[0]!;
  }

  #toQuestion(selection: Selection): Question {
    if (this.#isStopped) throw closed();
    const className = this.#classOf(selection.type);
    return toQuestion(selection, this.#columnsOf(className)?.searched ?? []);
  }

  #classOf(type: string): string {
    const className = this.#catalog.classOf(type);
    if (className === undefined) throw invalid(`no such type: ${type}`);
    return className;
  }

  #nowOf(className: string): LaterNowTable {
    const now =
      this.#now.get(className) ??
      new LaterNowTable((error) => {
        this.#logger.error("what is measured could not be told", { error });
      });
    this.#now.set(className, now);
    return now;
  }

  /** Of the type's class, which is followed from now on. */
  async #index(type: string): Promise<ClassIndex> {
    const className = this.#catalog.classOf(type)!;
    const known = this.#indexes.get(className);
    if (known !== undefined) return known;
    const index = this.#begin(className);
    this.#indexes.set(className, index);
    // Whoever asked hears of it; the next one tries again.
    index.catch(() => this.#indexes.delete(className));
    return index;
  }

  async #begin(className: string): Promise<ClassIndex> {
    const begun: ClassIndex[] = [];
    const begin = (table: ViewTable) => {
      const index = new ClassIndex({
        table,
        columns: this.#columnsOf(className)?.columns ?? [],
        budget: this.#budget,
        logger: this.#logger,
      });
      begun.push(index);
      this.#nowOf(className).begin(index.columns.measured);
      this.#started.add(index);
    };
    const table = await this.#catalog.follow(className, begin);
    if (this.#isStopped) throw closed();
    if (begun.length === 0) begin(table);
    const index = begun[0]!;
    await index.begin();
    return index;
  }
}

function closed(): XoError {
  return new XoError("CLOSED", { what: "the catalog's queries" });
}
