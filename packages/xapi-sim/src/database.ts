import { NULL_REF, datamodel } from "@xo-server/model";
import { defaultRecord } from "./field-type.js";
import { Journal } from "./journal.js";
import type { Origin } from "./origin.js";
import type { Random } from "./random.js";
import { linksOf } from "./relations.js";
import { Row } from "./row.js";
import { Table, type Deletion } from "./table.js";
import { XapiFailure } from "./xapi-failure.js";
import type { FleetObject, XapiRecord, XapiValue } from "./xapi-value.js";
import { linkAll } from "./bulk-links.js";
import { isEqual } from "./equality.js";

/** What happened to an object; `record` is the record after it (`del`: the last one). */
export interface Change {
  readonly operation: "add" | "mod" | "del";
  readonly className: string;
  readonly ref: string;
  readonly record: XapiRecord;
  /** Of messages: their own count. */
  readonly generation: number;
}

/**
 * XAPI's database: tables of objects, a generation that counts changes, and
 * relations whose two sides are updated together. Synchronous; every change is reported
 * to the listeners before the call returns.
 */
export class Database {
  readonly #tables = new Map<string, Table>();
  readonly #journal = new Journal();
  readonly #messageJournal = new Journal();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #random: Random;
  readonly #origin: Origin | undefined;
  #generation = 0;
  #messageGeneration = 0;

  /** @param origin objects that are there from the start; then nothing is loaded */
  constructor(random: Random, origin?: Origin) {
    this.#random = random;
    this.#origin = origin;
    for (const name of Object.keys(datamodel.classes))
      this.#tables.set(name, new Table(name));
  }

  /** Number of changes so far. */
  get generation(): number {
    return this.#generation;
  }

  /** Messages are not part of XAPI's database and have a count of their own. */
  get messageGeneration(): number {
    return this.#messageGeneration;
  }

  /**
   * Inserts a whole fleet at once. Of a relation pass the side with the single reference
   * (`VBD.VM`): the sets (`VM.VBDs`) are computed; of two sets pass either.
   * @param isLinked both sides of all relations are present and consistent
   */
  load(objects: Iterable<FleetObject>, isLinked = false): void {
    const rows: Row[] = [];
    for (const { className, ref, record } of objects)
      rows.push(this.#insert(className, ref, record));
    if (isLinked) return;
    linkAll(rows, (className, ref) =>
      this.#tables.get(className)?.rows.get(ref),
    );
  }

  /** The class's table; for what serialises whole classes. */
  table(className: string): Table {
    const table = this.#tables.get(className);
    if (table === undefined) throw new Error(`no class ${className}`);
    return table;
  }

  tables(): Iterable<Table> {
    return this.#tables.values();
  }

  /** @throws XapiFailure HANDLE_INVALID */
  get(className: string, ref: string): XapiRecord {
    return this.#row(className, ref).record;
  }

  find(className: string, ref: string): XapiRecord | undefined {
    return this.#find(className, ref)?.record;
  }

  *refs(className: string): Generator<string> {
    const { rows, adopted } = this.table(className);
    yield* rows.keys();
    for (const ref of this.#origin?.refs(className) ?? [])
      if (!adopted.has(ref)) yield ref;
  }

  *records(className: string): Generator<[ref: string, record: XapiRecord]> {
    for (const ref of this.refs(className)) {
      const row = this.#find(className, ref);
      if (row !== undefined) yield [ref, row.record];
    }
  }

  count(className: string): number {
    const { rows, adopted } = this.table(className);
    return rows.size + (this.#origin?.count(className) ?? 0) - adopted.size;
  }

  /** Reference of the object with this uuid. */
  byUuid(className: string, uuid: string): string | undefined {
    const ref =
      this.table(className).refByUuid.get(uuid) ??
      this.#origin?.refByUuid(className, uuid);
    return ref !== undefined && this.#find(className, ref) !== undefined
      ? ref
      : undefined;
  }

  newRef(): string {
    return `OpaqueRef:${this.#random.uuid()}`;
  }

  /** Makes an object. Missing fields get their defaults, a missing uuid is made up. @returns its reference */
  create(
    className: string,
    record: XapiRecord,
    ref: string = this.newRef(),
  ): string {
    const uuid = record["uuid"] ?? this.#random.uuid();
    const row = this.#insert(className, ref, { ...record, uuid });
    this.#notify("add", row, row.created);
    this.#relink(row, undefined, row.record);
    return ref;
  }

  /** Writes fields. Nothing happens where all have that value already. @throws XapiFailure HANDLE_INVALID */
  update(className: string, ref: string, patch: XapiRecord): void {
    const row = this.#row(className, ref);
    const before = row.record;
    const changed = Object.entries(patch).filter(
      ([name, value]) => !isEqual(before[name], value),
    );
    if (changed.length === 0) return;
    row.record = { ...before, ...Object.fromEntries(changed) };
    this.#touched(row);
    this.#relink(row, before, row.record);
  }

  /** Makes an event of an object without changing it: event.inject. @throws XapiFailure HANDLE_INVALID */
  touch(className: string, ref: string): void {
    this.#touched(this.#row(className, ref));
  }

  /** @throws XapiFailure HANDLE_INVALID */
  destroy(className: string, ref: string): void {
    const row = this.#row(className, ref);
    const generation = this.#nextGeneration(className);
    this.table(row.className).remove(row, generation);
    this.#journalOf(className).remove(row);
    this.#notify("del", row, generation);
    this.#relink(row, row.record, undefined);
  }

  /** Rows changed after `generation`, newest first; of messages with their own count. */
  changedSince(generation: number): Iterable<Row> {
    return this.#journal.since(generation);
  }

  messagesSince(generation: number): Iterable<Row> {
    return this.#messageJournal.since(generation);
  }

  /** Deletions that are still retained, after `generation`, oldest first. */
  *deletedSince(className: string, generation: number): Generator<Deletion> {
    const { deletions } = this.table(className);
    let first = deletions.length;
    while (first > 0 && deletions[first - 1]!.deleted > generation) first--;
    for (let i = first; i < deletions.length; i++) yield deletions[i]!;
  }

  /** @returns the function that ends it */
  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * As if restored from an old backup: the generation decreases, so that tokens of clients lie in
   * the future.
   */
  rewind(generations: number): void {
    this.#generation = Math.max(0, this.#generation - generations);
    for (const row of this.#journal.since(this.#generation))
      row.modified = this.#generation;
  }

  /** Deletions are not in the database that XAPI reads when it starts. */
  forgetDeletions(): void {
    for (const table of this.#tables.values()) table.deletions = [];
  }

  #row(className: string, ref: string): Row {
    const row = this.#find(className, ref);
    if (row === undefined)
      throw new XapiFailure("HANDLE_INVALID", [className, ref]);
    return row;
  }

  /** Takes the object in from the origin when it is not here yet. */
  #find(className: string, ref: string): Row | undefined {
    const table = this.#tables.get(className);
    const row = table?.rows.get(ref);
    if (row !== undefined || this.#origin === undefined) return row;
    if (table === undefined || table.adopted.has(ref)) return undefined;
    const json = this.#origin.json(className, ref);
    if (json === undefined) return undefined;
    const adopted = Row.ofJson(className, ref, json);
    table.adopt(adopted);
    return adopted;
  }

  #insert(className: string, ref: string, record: XapiRecord): Row {
    const generation = this.#nextGeneration(className);
    const row = new Row(
      className,
      ref,
      complete(className, record),
      generation,
    );
    this.table(row.className).add(row);
    this.#journalOf(className).append(row);
    return row;
  }

  #touched(row: Row): void {
    row.modified = this.#nextGeneration(row.className);
    this.table(row.className).version++;
    this.#journalOf(row.className).touch(row);
    this.#notify("mod", row, row.modified);
  }

  /** Writes the other sides of the links that differ between two states of a row. */
  #relink(
    row: Row,
    before: XapiRecord | undefined,
    after: XapiRecord | undefined,
  ): void {
    for (const { field, otherClass, otherField } of linksOf(row.className)) {
      const old = refsIn(before?.[field]);
      const now = refsIn(after?.[field]);
      for (const ref of old)
        if (!now.includes(ref))
          this.#unlink(otherClass, ref, otherField, row.ref);
      for (const ref of now)
        if (!old.includes(ref))
          this.#link(otherClass, ref, otherField, row.ref);
    }
  }

  #link(className: string, ref: string, field: string, value: string): void {
    const row = this.#find(className, ref);
    if (row === undefined) return;
    const refs = row.record[field] as readonly string[];
    if (refs.includes(value)) return;
    row.record = { ...row.record, [field]: [...refs, value] };
    this.#touched(row);
  }

  #unlink(className: string, ref: string, field: string, value: string): void {
    const row = this.#find(className, ref);
    if (row === undefined) return;
    const refs = row.record[field] as readonly string[];
    if (!refs.includes(value)) return;
    row.record = {
      ...row.record,
      [field]: refs.filter((other) => other !== value),
    };
    this.#touched(row);
  }

  #nextGeneration(className: string): number {
    return className === "message"
      ? ++this.#messageGeneration
      : ++this.#generation;
  }

  #journalOf(className: string): Journal {
    return className === "message" ? this.#messageJournal : this.#journal;
  }

  #notify(operation: Change["operation"], row: Row, generation: number): void {
    if (this.#listeners.size === 0) return;
    const { ref, record } = row;
    const { className } = row;
    const change = { operation, className, ref, record, generation };
    for (const listener of this.#listeners) listener(change);
  }
}

/** The record itself where it has as many fields as its class: copying a hundred thousand costs. */
function complete(className: string, record: XapiRecord): XapiRecord {
  const whole = defaultRecord(className);
  return Object.keys(record).length === Object.keys(whole).length
    ? record
    : { ...whole, ...record };
}

function refsIn(value: XapiValue | undefined): readonly string[] {
  if (typeof value === "string")
    return value === NULL_REF || value === "" ? [] : [value];
  return (value as readonly string[] | undefined) ?? [];
}
