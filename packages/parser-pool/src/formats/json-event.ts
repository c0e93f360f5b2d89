import { Operation } from "@xo-server/model";
import type { ClassBook } from "../hints.js";
import { badAnswer } from "./bad-input.js";
import type { BatchBuilder, FoundRecord } from "./batch-builder.js";
import { NameIndex } from "./name-index.js";
import { CLOSE_BRACE, OPEN_BRACE, type JsonScanner } from "./json-scanner.js";

const COMMA = 0x2c;
const QUOTE = 0x22;
const NO_COLUMNS = new NameIndex([]);

/** Reads the events of event.from, their members in any order. */
export class EventReader {
  readonly #scanner: JsonScanner;
  readonly #classes: ClassBook;
  readonly #builder: BatchBuilder;

  constructor(scanner: JsonScanner, classes: ClassBook, builder: BatchBuilder) {
    this.#scanner = scanner;
    this.#classes = classes;
    this.#builder = builder;
  }

  /** Reads the event at `pos`, which stands within `depth` levels. @returns the position behind it */
  read(pos: number, depth: number): number {
    const scanner = this.#scanner;
    const found: FoundRecord = {
      refOffset: -1,
      refLength: 0,
      className: "",
      operation: Operation.add,
      offset: 0,
      length: 0,
      lenient: false,
    };
    let operation: string | undefined;
    let at = scanner.peek(scanner.expect(pos, OPEN_BRACE));
    while (scanner.bytes[at] !== CLOSE_BRACE) {
      const value = scanner.key(at);
      const name = scanner.text(scanner.keyStart, scanner.keyEnd);
      const { escapes } = scanner;
      at = scanner.value(value, depth + 1);
      if (name === "class") found.className = this.#word(value, at);
      else if (name === "operation") operation = this.#word(value, at);
      else if (name === "ref") {
        this.#word(value, at);
        if (scanner.escapes !== escapes)
          throw badAnswer("a reference with an escape");
        found.refOffset = value + 1;
        found.refLength = at - value - 2;
      } else if (name === "snapshot") {
        found.offset = value;
        found.length = at - value;
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

  #add(found: FoundRecord, depth: number): void {
    if (found.className === "" || found.refOffset < 0)
      throw badAnswer("an event without class or reference");
    const scanner = this.#scanner;
    found.className = this.#classes.spell(found.className);
    const isRecord =
      found.operation !== Operation.del &&
      found.length > 0 &&
      scanner.bytes[found.offset] === OPEN_BRACE;
    if (!isRecord) found.offset = found.length = 0;
    const columns = isRecord
      ? this.#classes.classOf(found.className).columns
      : NO_COLUMNS;
    this.#builder.openColumns(columns.count);
    if (isRecord) {
      // A second walk over the snapshot: its class may stand behind it.
      scanner.lenient = false;
      scanner.record(found.offset, depth + 1, columns, this.#builder);
      found.lenient = scanner.lenient;
    }
    this.#builder.add(scanner, found, columns.count);
  }

  /** The text of a string. */
  #word(start: number, end: number): string {
    const scanner = this.#scanner;
    if (scanner.bytes[start] !== QUOTE)
      throw scanner.unexpected(start, "a string");
    return scanner.text(start + 1, end - 1);
  }
}

function operationOf(text: string | undefined): Operation {
  if (text === "add" || text === "mod" || text === "del")
    return Operation[text];
  throw badAnswer("an event whose operation is not add, mod or del");
}
