import { EventOperation } from "@xo-server/model";
import type { ClassRegistry, ClassLayout } from "./class-registry.js";
import { badAnswer } from "./bad-input.js";
import type { BatchBuilder, FoundRecord } from "./batch-builder.js";
import { NameIndex } from "./name-index.js";
import { CLOSE_BRACE, OPEN_BRACE, type JsonScanner } from "./json-scanner.js";

const COMMA = 0x2c;
const QUOTE = 0x22;
const NO_COLUMNS = new NameIndex([]);

const MEMBERS = ["class", "operation", "ref", "snapshot"] as const;
const memberIndex = new NameIndex(MEMBERS);

/** Reads the events of event.from, with members in any order. */
export class EventReader {
  readonly #scanner: JsonScanner;
  readonly #classes: ClassRegistry;
  readonly #builder: BatchBuilder;
  /** Class whose columns were noted in the current snapshot; undefined: none. */
  #walkedFor: ClassLayout | undefined;

  constructor(
    scanner: JsonScanner,
    classes: ClassRegistry,
    builder: BatchBuilder,
  ) {
    this.#scanner = scanner;
    this.#classes = classes;
    this.#builder = builder;
  }

  /** Reads the event at `pos`, nested in `depth` levels. @returns the position after the event */
  read(pos: number, depth: number): number {
    const scanner = this.#scanner;
    const found: FoundRecord = {
      refOffset: -1,
      refLength: 0,
      className: "",
      operation: EventOperation.add,
      offset: 0,
      length: 0,
      lenient: false,
    };
    let operation: string | undefined;
    let at = scanner.peek(scanner.expect(pos, OPEN_BRACE));
    this.#walkedFor = undefined;
    while (scanner.bytes[at] !== CLOSE_BRACE) {
      const value = scanner.key(at);
      const { bytes, keyStart, keyEnd, escapes } = scanner;
      const member = memberIndex.find(bytes, keyStart, keyEnd - keyStart);
      const name = MEMBERS[member];
      at =
        name === "snapshot"
          ? this.#snapshot(value, found.className, depth + 1)
          : scanner.value(value, depth + 1);
      if (name === "class") found.className = this.#word(value, at);
      else if (name === "operation") operation = this.#word(value, at);
      else if (name === "ref") {
        this.#expectString(value);
        if (scanner.escapes !== escapes)
          throw badAnswer("a reference with an escape");
        found.refOffset = value + 1;
        found.refLength = at - value - 2;
      } else if (name === "snapshot") {
        found.offset = value;
        found.length = at - value;
        found.lenient = scanner.lenient;
      }
      at = scanner.peek(at);
      if (scanner.bytes[at] !== COMMA) scanner.expect(at, CLOSE_BRACE);
      else if (scanner.bytes[(at = scanner.peek(at + 1))] === CLOSE_BRACE)
        throw scanner.unexpected(at, "a member");
    }
    found.operation = operationOf(operation);
    this.#add(found, depth);
    return at + 1;
  }

  /** Reads the snapshot and, if the class is known, notes its columns. XAPI sends the class before the snapshot. */
  #snapshot(value: number, className: string, depth: number): number {
    const scanner = this.#scanner;
    this.#walkedFor = undefined;
    if (className === "" || scanner.bytes[value] !== OPEN_BRACE)
      return scanner.value(value, depth);
    const model = this.#classes.classOf(this.#classes.classNameOf(className));
    const end = this.#walk(value, model, depth);
    this.#walkedFor = model;
    return end;
  }

  #walk(value: number, { columns }: ClassLayout, depth: number): number {
    this.#builder.openColumns(columns.count);
    this.#scanner.lenient = false;
    return this.#scanner.record(value, depth, columns, this.#builder);
  }

  #add(found: FoundRecord, depth: number): void {
    if (found.className === "" || found.refOffset < 0)
      throw badAnswer("an event without class or reference");
    const scanner = this.#scanner;
    found.className = this.#classes.classNameOf(found.className);
    const isRecord =
      found.operation !== EventOperation.del &&
      found.length > 0 &&
      scanner.bytes[found.offset] === OPEN_BRACE;
    if (!isRecord) {
      found.offset = found.length = 0;
      found.lenient = false;
      this.#builder.add(scanner, found, NO_COLUMNS.count);
      return;
    }
    const model = this.#classes.classOf(found.className);
    if (model !== this.#walkedFor) {
      // The class follows the snapshot: read the snapshot again with its columns.
      this.#walk(found.offset, model, depth + 1);
      found.lenient = scanner.lenient;
    }
    this.#builder.add(scanner, found, model.columns.count);
  }

  /** The text of a string. */
  #word(start: number, end: number): string {
    this.#expectString(start);
    return this.#scanner.text(start + 1, end - 1);
  }

  #expectString(start: number): void {
    const scanner = this.#scanner;
    if (scanner.bytes[start] !== QUOTE)
      throw scanner.unexpected(start, "a string");
  }
}

function operationOf(text: string | undefined): EventOperation {
  if (text === "add" || text === "mod" || text === "del")
    return EventOperation[text];
  throw badAnswer("an event whose operation is not add, mod or del");
}
