import { parseLenient } from "@xo-server/model";
import type { XapiRecord } from "./xapi-value.js";

/** One object in the database: its record as an object, as bytes, or both. */
export class Row {
  readonly className: string;
  readonly ref: string;
  /** Generation of the database when the object was made. */
  readonly created: number;
  /** Generation of its last change. */
  modified: number;
  /** Neighbours in the order of change: see Journal. */
  older: Row | undefined;
  newer: Row | undefined;
  /** The record as JSON and as XML-RPC, until it changes. */
  json: Buffer | undefined;
  xml: Buffer | undefined;
  /**
   * The record is dropped as soon as there are bytes: a database stores little of its origin's
   * objects.
   */
  readonly isLean: boolean;
  #record: XapiRecord | undefined;

  constructor(
    className: string,
    ref: string,
    record: XapiRecord | undefined,
    generation: number,
  ) {
    this.className = className;
    this.ref = ref;
    this.isLean = record === undefined;
    this.#record = record;
    this.created = generation;
    this.modified = generation;
  }

  /** One that has been there all along, known by its bytes. */
  static ofJson(className: string, ref: string, json: Buffer): Row {
    const row = new Row(className, ref, undefined, 0);
    row.json = json;
    return row;
  }

  get record(): XapiRecord {
    return (this.#record ??= parseLenient(
      this.json!.toString("utf8"),
    ) as XapiRecord);
  }

  set record(record: XapiRecord) {
    this.#record = record;
    this.json = undefined;
    this.xml = undefined;
  }

  /**
   * Stores only the bytes, if there are some: objects of a large pool would dominate garbage
   * collection.
   */
  compact(): void {
    if (this.json !== undefined) this.#record = undefined;
  }
}
