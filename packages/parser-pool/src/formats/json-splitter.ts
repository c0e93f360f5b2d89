import { isUtf8 } from "node:buffer";
import { EventOperation } from "@xo-server/model";
import type { ClassRegistry, ClassLayout } from "./class-registry.js";
import { badAnswer, NeedMore, describeByte } from "./bad-input.js";
import { recordUnits, type LoadedPiece } from "./record-units.js";
import { BatchBuilder } from "./batch-builder.js";
import { EventReader } from "./json-event.js";
import type { FormatInput, FormatOutput, RawAnswer } from "./format.js";
import {
  parseEventsEnvelope,
  parseFailure,
  TEXT_MEMBERS,
  VALUE_MEMBER,
  type EnvelopeKind,
} from "./json-envelope.js";
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  JsonScanner,
  OPEN_BRACE,
  OPEN_BRACKET,
} from "./json-scanner.js";

/** Where the next unit (a member, a record, an event) is in the answer. */
type Phase = "start" | "envelope" | "records" | "struct" | "events" | "done";

/** State between two pieces: plain data. */
interface JsonState {
  phase: Phase;
  /** No unit of this phase has been read yet: no comma is expected. */
  first: boolean;
  hasValue: boolean;
  /** The value is neither a map of records nor a struct of events. */
  hasUnexpectedValue: boolean;
  members: Record<string, string>;
}

const COMMA = 0x2c;

/** Copying fewer bytes to WebAssembly costs more than it saves. */
const MIN_WASM_BYTES = 4096;

/** Levels of nesting around a record, and around an event. */
const RECORD_DEPTH = 2;
const EVENT_DEPTH = 3;

/** One per thread: splitting is synchronous. */
const builder = new BatchBuilder();

/**
 * Splits JSON answers. An incomplete unit (a member of the envelope, a record, an
 * event) is read again with the next piece. So the state between two pieces is
 * small, and the scanner needs no persistent stack.
 */
export class JsonSplitter {
  readonly #input: FormatInput;
  readonly #envelopeKind: EnvelopeKind;
  readonly #scanner: JsonScanner;
  readonly #model: ClassLayout;
  readonly #events: EventReader;
  readonly #state: JsonState;
  /** The piece in the memory of WebAssembly. */
  #loaded: LoadedPiece | undefined;
  #value: { offset: number; length: number; lenient: boolean } | undefined;
  /** Position of the first byte not consumed. */
  #used: number;

  constructor(
    input: FormatInput,
    classes: ClassRegistry,
    envelopeKind: EnvelopeKind,
  ) {
    this.#input = input;
    this.#envelopeKind = envelopeKind;
    this.#model = classes.classOf(input.className);
    const { bytes, end, final } = input;
    const { maxDepth } = classes;
    this.#scanner = new JsonScanner(bytes, end, { final, maxDepth });
    this.#events = new EventReader(this.#scanner, classes, builder);
    this.#used = input.start;
    this.#state = (input.state as JsonState | undefined) ?? {
      phase: "start",
      first: true,
      hasValue: false,
      hasUnexpectedValue: false,
      members: {},
    };
  }

  /** Position of the first byte that belongs to the tail. */
  get used(): number {
    return this.#used;
  }

  split(): FormatOutput {
    builder.reset();
    try {
      while (this.#step());
    } catch (error) {
      if (!(error instanceof NeedMore)) throw error;
    }
    this.#checkText();
    const { bytes, end, final } = this.#input;
    const batch = builder.build(bytes.buffer);
    return {
      batches: batch === undefined ? [] : [batch],
      tail: bytes.slice(this.#used, end),
      state: this.#state,
      ...(final && { answer: this.#answer() }),
    };
  }

  /** Reads one unit. @returns whether more may follow */
  #step(): boolean {
    switch (this.#state.phase) {
      case "start":
        return this.#start();
      case "envelope":
        return this.#unit(CLOSE_BRACE, "done", (at) => this.#member(at));
      case "records":
        this.#splitInWebAssembly();
        return this.#unit(CLOSE_BRACE, "envelope", (at) => this.#record(at));
      case "struct":
        return this.#unit(CLOSE_BRACE, "envelope", (at) =>
          this.#eventsMember(at),
        );
      case "events":
        return this.#unit(CLOSE_BRACKET, "struct", (at) =>
          this.#events.read(at, EVENT_DEPTH),
        );
      case "done":
        return this.#done();
    }
  }

  #start(): boolean {
    const { end, final } = this.#input;
    const at = this.#scanner.space(this.#used);
    if (at >= end && final) throw badAnswer("empty answer");
    this.#enter("envelope", this.#scanner.expect(at, OPEN_BRACE));
    return true;
  }

  #done(): boolean {
    const at = this.#scanner.space(this.#used);
    const { bytes, end } = this.#input;
    if (at < end) throw badAnswer(`${describeByte(bytes[at])} after the end`);
    this.#used = end;
    return false;
  }

  #enter(phase: Phase, used: number): void {
    this.#state.phase = phase;
    this.#state.first = true;
    this.#used = used;
  }

  /** Reads one unit of a list that ends with `close`, after which `outside` is the phase. */
  #unit(close: number, outside: Phase, read: (at: number) => number): boolean {
    const scanner = this.#scanner;
    const state = this.#state;
    let at = scanner.peek(this.#used);
    if (scanner.bytes[at] === close) {
      this.#used = at + 1;
      state.phase = outside;
      state.first = false;
      return true;
    }
    if (!state.first) at = scanner.peek(scanner.expect(at, COMMA));
    const { phase } = state;
    const used = read(at);
    // A unit that opens an inner list has already changed the phase.
    if (state.phase === phase) {
      this.#used = used;
      state.first = false;
    }
    return true;
  }

  /** A member of the envelope. */
  #member(at: number): number {
    const scanner = this.#scanner;
    const value = scanner.key(at);
    const name = scanner.text(scanner.keyStart, scanner.keyEnd);
    if (name === VALUE_MEMBER[this.#envelopeKind])
      return this.#answerValue(value);
    const end = scanner.value(value, 1);
    if (TEXT_MEMBERS[this.#envelopeKind].includes(name))
      this.#state.members[name] = scanner.text(value, end);
    return end;
  }

  #answerValue(value: number): number {
    const scanner = this.#scanner;
    const { shape } = this.#input;
    const state = this.#state;
    if (shape !== "value" && scanner.bytes[value] === OPEN_BRACE) {
      state.hasValue = true;
      this.#enter(shape === "records" ? "records" : "struct", value + 1);
      return value + 1;
    }
    scanner.lenient = false;
    const end = scanner.value(value, 1);
    const { lenient } = scanner;
    this.#value = { offset: value, length: end - value, lenient };
    state.hasValue = true;
    state.hasUnexpectedValue = shape !== "value";
    return end;
  }

  /** Splits records in WebAssembly until it stops. */
  #splitInWebAssembly(): void {
    const { bytes, end } = this.#input;
    const { columns: names, name: className } = this.#model;
    if (end - this.#used < MIN_WASM_BYTES) return;
    const units = recordUnits();
    if (units === undefined) return;
    this.#loaded ??= units.load(bytes, { start: this.#used, end, names });
    if (this.#loaded === undefined) return;
    const { first } = this.#state;
    const { count } = builder;
    const at = { first, className };
    this.#used = units.split(this.#loaded, this.#used, at, builder);
    if (builder.count > count) this.#state.first = false;
  }

  /** A record and its reference. */
  #record(at: number): number {
    const scanner = this.#scanner;
    const { escapes } = scanner;
    const value = scanner.key(at);
    const { keyStart, keyEnd } = scanner;
    if (scanner.escapes !== escapes)
      throw badAnswer("a reference with an escape");
    if (scanner.bytes[value] !== OPEN_BRACE)
      throw scanner.unexpected(value, "a record");
    const { name, columns } = this.#model;
    scanner.lenient = false;
    builder.openColumns(columns.count);
    const end = scanner.record(value, RECORD_DEPTH, columns, builder);
    builder.add(
      scanner,
      {
        refOffset: keyStart,
        refLength: keyEnd - keyStart,
        className: name,
        operation: EventOperation.add,
        offset: value,
        length: end - value,
        lenient: scanner.lenient,
      },
      columns.count,
    );
    return end;
  }

  /** A member of the answer of event.from. */
  #eventsMember(at: number): number {
    const scanner = this.#scanner;
    const value = scanner.key(at);
    const name = scanner.text(scanner.keyStart, scanner.keyEnd);
    if (name === "events") {
      const inside = scanner.expect(value, OPEN_BRACKET);
      this.#enter("events", inside);
      return inside;
    }
    const end = scanner.value(value, 2);
    if (name === "token" || name === "valid_ref_counts")
      this.#state.members[name] = scanner.text(value, end);
    return end;
  }

  /** Invalid UTF-8 is allowed in errors only: XAPI repeats its input there. */
  #checkText(): void {
    const { bytes, start } = this.#input;
    const { members: kept } = this.#state;
    const { error = "null", ErrorDescription: description = "null" } = kept;
    if (error !== "null" || description !== "null") return;
    if (!isUtf8(bytes.subarray(start, this.#used)))
      throw badAnswer("not UTF-8");
  }

  #answer(): RawAnswer {
    const { members: kept, hasValue, hasUnexpectedValue } = this.#state;
    const encoding =
      this.#envelopeKind === "json-rpc" ? "json-rpc" : "json-in-xml";
    const error = parseFailure(this.#envelopeKind, kept, hasValue);
    if (error !== undefined) return { outcome: "failure", encoding, error };
    const { shape, bytes } = this.#input;
    if (hasUnexpectedValue)
      throw badAnswer(`the value is not a struct of ${shape}`);
    if (shape === "events")
      return { outcome: "success", encoding, ...parseEventsEnvelope(kept) };
    if (this.#value === undefined) return { outcome: "success", encoding };
    const value = { buffer: bytes.buffer, ...this.#value };
    return { outcome: "success", encoding, value };
  }
}
