import type { Logger } from "@xo-server/kit";
import type { Priority, Steps } from "../slicer/slicer.js";
import type { Predicate } from "../filter/predicate.js";
import type { ViewObject } from "../views/view.js";
import type {
  ObjectReader,
  RowObserver,
  TypeSummary,
  ViewTable,
} from "./catalog.js";
import type { ClassContext } from "./class-context.js";
import { digestOf } from "./digest.js";
import { evaluatePredicate } from "./evaluate-predicate.js";
import { FieldReader } from "./field-reader.js";
import { PredicateResults } from "./predicate-results.js";
import { RowIdentity } from "./row-identity.js";
import {
  isReadSingly,
  isReadWithoutObject,
  readerOf,
  type RowReader,
} from "./row-reader.js";
import type { RecordedLinks } from "./view-links.js";
import { RowFlag } from "./view-row-table.js";
import { copyOf } from "./view-encoder.js";

/** The rows of one class, for reading. */
export class ViewRows implements ViewTable {
  readonly #context: ClassContext;
  readonly #observers = new Set<RowObserver>();
  readonly #results = new PredicateResults();
  readonly #fields: FieldReader;

  constructor(parts: ClassContext) {
    this.#context = parts;
    this.#fields = new FieldReader(parts.view, parts, (row) => {
      // Opening clears the dependencies that have been recorded so far.
      this.#addDependencies(row, parts.reader.links);
      const opened = this.#open(row);
      return typeof opened === "string" ? undefined : opened;
    });
  }

  get className(): string {
    return this.#context.view.className;
  }

  get rows(): number {
    return this.#context.rows.rows;
  }

  get count(): number {
    return this.#context.rows.live;
  }

  isLive(row: number): boolean {
    return this.#context.rows.has(row, RowFlag.live);
  }

  id(row: number): string {
    return this.#context.rows.id(row);
  }

  writeId(row: number, bytes: Uint8Array, at: number): number {
    return this.#context.rows.writeId(row, bytes, at);
  }

  type(row: number): string {
    return this.#context.types[this.#context.rows.type(row)]!;
  }

  pool(row: number): string {
    return this.#context.pools.name(this.#context.rows.pool(row));
  }

  findId(id: string): number {
    return this.#context.rows.findId(id);
  }

  revision(row: number): number {
    return this.#context.rows.revision(row);
  }

  json(row: number): Buffer {
    const { cache, rows } = this.#context;
    return cache.get(rows, row) ?? this.#read(row).json;
  }

  object(row: number): ViewObject {
    const { cache, rows } = this.#context;
    const cached = cache.get(rows, row);
    return cached === undefined
      ? this.#read(row).view
      : (JSON.parse(cached.toString()) as ViewObject);
  }

  readRow(row: number, visit: (object: ObjectReader) => void): void {
    const { rows, reader } = this.#context;
    if (rows.has(row, RowFlag.encoded)) {
      visit(readerOf(this.object(row)));
      return;
    }
    const opened = this.#openForReading(row);
    if (typeof opened === "string") {
      visit(readerOf(this.#stub(row)));
      return;
    }
    reader.attempt(() => {
      visit(opened);
    });
    this.#addDependencies(row, reader.links);
  }

  members(row: number, names: readonly string[]): ViewObject | undefined {
    const { rows, view } = this.#context;
    if (rows.has(row, RowFlag.encoded)) return undefined;
    if (!names.every((name) => isReadSingly(view, name))) return undefined;
    const members = Object.create(null) as ViewObject;
    this.readRow(row, (object) => {
      for (const name of names) members[name] = object.value([name]);
    });
    return members;
  }

  passes(row: number, test: Predicate): boolean {
    const cached = this.#results.get(row, test);
    if (cached !== undefined) return cached;
    const { rows } = this.#context;
    const holds = this.#evaluate(row, test);
    // An unpublished change may already be visible here and may change again:
    // do not cache.
    if (!rows.has(row, RowFlag.dirty | RowFlag.readBeforePublish))
      this.#results.set(row, test, holds);
    return holds;
  }

  matches(row: number, test: Predicate): boolean {
    return this.#evaluate(row, test);
  }

  /** The row's object may have changed. */
  invalidateResults(row: number): void {
    this.#results.invalidate(row);
  }

  summary(type: string): TypeSummary {
    const { rows, summaries } = this.#context;
    for (let row = 0; row < rows.rows; row++)
      if (rows.has(row, RowFlag.live) && !rows.has(row, RowFlag.encoded))
        this.#read(row);
    return summaries.get(type);
  }

  observe(observer: RowObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  run(steps: Steps, lane = "views", priority?: Priority): Promise<void> {
    return this.#context.inventory.runInSlices(lane, steps, priority);
  }

  notifySet(row: number, object: ObjectReader): void {
    this.#results.invalidate(row);
    for (const one of this.#observers)
      callObserver(this.#context.logger, () => {
        one.rowSet(row, object);
      });
  }

  notifyRemoved(row: number): void {
    this.#results.invalidate(row);
    for (const one of this.#observers)
      callObserver(this.#context.logger, () => {
        one.rowRemoved(row);
      });
  }

  notifyFlushed(): void {
    for (const one of this.#observers)
      callObserver(this.#context.logger, () => {
        one.flushed();
      });
  }

  #openForReading(row: number): ObjectReader | string {
    const isCurrent = !this.#context.rows.has(row, RowFlag.dirty);
    return isCurrent && this.#fields.open(row) ? this.#fields : this.#open(row);
  }

  /** The identity of a row that is up to date need not be derived again. */
  #open(row: number): RowReader | string {
    const { rows, reader } = this.#context;
    const [pool, ref] = [rows.pool(row), rows.ref(row)];
    return rows.has(row, RowFlag.dirty)
      ? reader.open(pool, ref)
      : reader.openKnown(pool, ref, new RowIdentity(this.#context, row));
  }

  /** Evaluates a predicate, reading only the properties that it needs where that is possible. */
  #evaluate(row: number, test: Predicate): boolean {
    const { fields } = test;
    const { rows, view } = this.#context;
    if (fields === undefined) return test(this.object(row));
    if (rows.has(row, RowFlag.encoded))
      return evaluatePredicate(test, this.json(row));
    // Otherwise the whole object is built: it is kept for the next reader.
    const type = this.type(row);
    if (!fields.every((field) => isReadWithoutObject(view, type, field)))
      return test(this.object(row));
    const members: ViewObject = {};
    this.readRow(row, (object) => {
      for (const field of fields) {
        const value = object.value([field]);
        if (value !== undefined) members[field] = value;
      }
    });
    return test(members);
  }

  #read(row: number): { readonly view: ViewObject; readonly json: Buffer } {
    const { builder, rows, cache, encoder, hasUnseenChanges } = this.#context;
    const built = builder.build(rows.pool(row), rows.ref(row));
    const view = typeof built === "string" ? this.#stub(row) : built.view;
    const { bytes } = encoder.encode(view);
    const json = copyOf(bytes);
    if (!rows.has(row, RowFlag.encoded)) {
      // Results of predicates depend on what was read, whether the object is kept or not.
      this.#addDependencies(row, builder.links);
      // A record that is newer than the row is encoded when the row is updated.
      const isCurrent = !rows.has(row, RowFlag.dirty) && !hasUnseenChanges();
      if (isCurrent && typeof built !== "string") this.#setEncoded(row, json);
    }
    // Only the published version may be cached: patches are computed from it.
    else if (rows.hasDigest(row, digestOf(bytes))) cache.offer(rows, row, json);
    else rows.setFlag(row, RowFlag.readBeforePublish, true);
    return { view, json };
  }

  #addDependencies(row: number, links: RecordedLinks): void {
    const { rows, dependencies } = this.#context;
    dependencies.add(row, links.hashes, links.count);
    if (links.readsPool) rows.setFlag(row, RowFlag.readsPool, true);
  }

  /** The row was encoded for the first time, for a reader. */
  #setEncoded(row: number, json: Buffer): void {
    const { rows, cache, summaries } = this.#context;
    const digest = digestOf(json);
    summaries.encoded(this.type(row), digest);
    rows.setDigest(row, digest);
    rows.setFlag(row, RowFlag.encoded, true);
    cache.offer(rows, row, json);
  }

  /** Stand-in for a removed object until its removal is published. */
  #stub(row: number): ViewObject {
    return { id: this.id(row), type: this.type(row) };
  }
}

/** Calls an observer; an error is logged and does not affect others. */
function callObserver(logger: Pick<Logger, "error">, call: () => void): void {
  try {
    call();
  } catch (error) {
    logger.error("a listener of the catalog failed", { error });
  }
}
