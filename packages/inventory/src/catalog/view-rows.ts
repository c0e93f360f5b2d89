import type { Logger } from "@xo-server/kit";
import type { Steps } from "../slicer/slicer.js";
import type { Predicate } from "../filter/predicate.js";
import type { ViewObject } from "../views/view.js";
import type { Frame, RowObserver, TypeSummary, ViewTable } from "./catalog.js";
import type { ClassContext } from "./class-context.js";
import { digestOf } from "./digest.js";
import { evaluatePredicate } from "./evaluate-predicate.js";
import { PredicateResults } from "./predicate-results.js";
import { RowFlag } from "./view-row-table.js";
import { copyOf } from "./view-encoder.js";

/** The rows of one class, for reading. */
export class ViewRows implements ViewTable {
  readonly #context: ClassContext;
  readonly #observers = new Set<RowObserver>();
  readonly #results = new PredicateResults();

  constructor(parts: ClassContext) {
    this.#context = parts;
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

  passes(row: number, test: Predicate): boolean {
    const cached = this.#results.get(row, test);
    if (cached !== undefined) return cached;
    const { rows } = this.#context;
    const holds = evaluatePredicate(test, this.json(row));
    // An unpublished change may already be visible here and may change again:
    // do not cache.
    if (!rows.has(row, RowFlag.dirty | RowFlag.readBeforePublish))
      this.#results.set(row, test, holds);
    return holds;
  }

  /** The row's object may have changed. */
  invalidateResults(row: number): void {
    this.#results.invalidate(row);
  }

  summary(type: string): TypeSummary {
    return this.#context.summaries.get(type);
  }

  observe(observer: RowObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  run(steps: Steps): Promise<void> {
    return this.#context.inventory.runInSlices("views", steps);
  }

  notifySet(row: number, view: ViewObject): void {
    this.#results.invalidate(row);
    for (const one of this.#observers)
      callObserver(this.#context.logger, () => {
        one.rowSet(row, view);
      });
  }

  notifyRemoved(row: number): void {
    this.#results.invalidate(row);
    for (const one of this.#observers)
      callObserver(this.#context.logger, () => {
        one.rowRemoved(row);
      });
  }

  notifyFlushed(frame: Frame): void {
    for (const one of this.#observers)
      callObserver(this.#context.logger, () => {
        one.flushed(frame);
      });
  }

  #read(row: number): { readonly view: ViewObject; readonly json: Buffer } {
    const { builder, rows, cache, encoder } = this.#context;
    const built = builder.build(rows.pool(row), rows.ref(row));
    const view = typeof built === "string" ? this.#stub(row) : built.view;
    const { bytes } = encoder.encode(view);
    const json = copyOf(bytes);
    // Only the published version may be cached: patches are computed from it.
    if (rows.hasDigest(row, digestOf(bytes))) cache.offer(rows, row, json);
    else rows.setFlag(row, RowFlag.readBeforePublish, true);
    return { view, json };
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
    logger.error("an observer of the catalog failed", { error });
  }
}
