import type { Logger } from "@xo-server/xen-api";
import type { Steps } from "../slicer/slicer.js";
import type { Predicate } from "../filter/predicate.js";
import type { ViewObject } from "../views/view.js";
import type { Frame, RowObserver, TypeSummary, ViewTable } from "./catalog.js";
import type { ClassParts } from "./class-parts.js";
import { digestOf } from "./digest.js";
import { holdsFor } from "./holds-for.js";
import { RowAnswers } from "./row-answers.js";
import { RowFlag } from "./row-table.js";
import { copyOf } from "./view-encoder.js";

/** The rows of one class for those who read them. */
export class ViewRows implements ViewTable {
  readonly #parts: ClassParts;
  readonly #observers = new Set<RowObserver>();
  readonly #answers = new RowAnswers();

  constructor(parts: ClassParts) {
    this.#parts = parts;
  }

  get className(): string {
    return this.#parts.view.className;
  }

  get rows(): number {
    return this.#parts.rows.rows;
  }

  get count(): number {
    return this.#parts.rows.live;
  }

  isLive(row: number): boolean {
    return this.#parts.rows.has(row, RowFlag.live);
  }

  id(row: number): string {
    return this.#parts.rows.id(row);
  }

  writeId(row: number, bytes: Uint8Array, at: number): number {
    return this.#parts.rows.writeId(row, bytes, at);
  }

  type(row: number): string {
    return this.#parts.types[this.#parts.rows.type(row)]!;
  }

  pool(row: number): string {
    return this.#parts.pools.name(this.#parts.rows.pool(row));
  }

  findId(id: string): number {
    return this.#parts.rows.findId(id);
  }

  revision(row: number): number {
    return this.#parts.rows.revision(row);
  }

  json(row: number): Buffer {
    const { cache, rows } = this.#parts;
    return cache.get(rows, row) ?? this.#read(row).json;
  }

  object(row: number): ViewObject {
    const { cache, rows } = this.#parts;
    const known = cache.get(rows, row);
    return known === undefined
      ? this.#read(row).view
      : (JSON.parse(known.toString()) as ViewObject);
  }

  passes(row: number, test: Predicate): boolean {
    const known = this.#answers.get(row, test);
    if (known !== undefined) return known;
    const { rows } = this.#parts;
    const holds = holdsFor(test, this.json(row));
    // What has changed and is not told yet may be read already, and may change again.
    if (!rows.has(row, RowFlag.dirty | RowFlag.leaked))
      this.#answers.set(row, test, holds);
    return holds;
  }

  /** The row's object may differ from now on. */
  forgetAnswers(row: number): void {
    this.#answers.forget(row);
  }

  summary(type: string): TypeSummary {
    return this.#parts.summaries.get(type);
  }

  observe(observer: RowObserver): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  run(steps: Steps): Promise<void> {
    return this.#parts.inventory.runInSlices("views", steps);
  }

  tellSet(row: number, view: ViewObject): void {
    this.#answers.forget(row);
    for (const one of this.#observers)
      guarded(this.#parts.logger, () => {
        one.rowSet(row, view);
      });
  }

  tellRemoved(row: number): void {
    this.#answers.forget(row);
    for (const one of this.#observers)
      guarded(this.#parts.logger, () => {
        one.rowRemoved(row);
      });
  }

  tellFlushed(frame: Frame): void {
    for (const one of this.#observers)
      guarded(this.#parts.logger, () => {
        one.flushed(frame);
      });
  }

  #read(row: number): { readonly view: ViewObject; readonly json: Buffer } {
    const { maker, rows, cache, encoder } = this.#parts;
    const made = maker.make(rows.pool(row), rows.ref(row));
    const view = typeof made === "string" ? this.#stub(row) : made.view;
    const { bytes } = encoder.encode(view);
    const json = copyOf(bytes);
    // What has changed since the row was told must not pass for what was told: patches are made from there.
    if (rows.hasDigest(row, digestOf(bytes))) cache.offer(rows, row, json);
    else rows.setFlag(row, RowFlag.leaked, true);
    return { view, json };
  }

  /** Of an object that is gone, until that is told. */
  #stub(row: number): ViewObject {
    return { id: this.id(row), type: this.type(row) };
  }
}

/** An observer that throws disturbs nobody else. */
function guarded(logger: Pick<Logger, "error">, tell: () => void): void {
  try {
    tell();
  } catch (error) {
    logger.error("an observer of the catalog failed", { error });
  }
}
