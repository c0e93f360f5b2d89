import { isUtf8 } from "node:buffer";
import { EventOperation } from "@xo-server/model";
import type { ClassRegistry, ClassLayout } from "./class-registry.js";
import { badAnswer, NeedMore, describeByte } from "./bad-input.js";
import { BatchBuilder } from "./batch-builder.js";
import type { Format, FormatInput, FormatOutput, RawAnswer } from "./format.js";
import { parseEventsEnvelope, parseFailure } from "./json-envelope.js";
import { JsonOutput } from "./json-output.js";
import { XmlCursor } from "./xml-cursor.js";
import { XmlEventReader } from "./xml-event.js";
import { skipToValue } from "./xml-prolog.js";
import {
  ARRAY,
  ARRAY_END,
  DATA,
  DATA_END,
  MEMBER_END,
  PARAM_END,
  PARAMS_END,
  RESPONSE_END,
  STRUCT,
  VALUE,
  VALUE_END,
  type XmlTag,
} from "./xml-tag.js";
import { XmlTranscoder } from "./xml-transcoder.js";

/** Where the next unit (a member, a record, an event) is in the answer. */
type Phase = "start" | "envelope" | "records" | "struct" | "events" | "done";

/** State between two pieces: plain data. */
interface XmlState {
  phase: Phase;
  hasValue: boolean;
  /** The value is neither a map of records nor a struct of events. */
  hasUnexpectedValue: boolean;
  /** The value has no Status, as the answer of system.listMethods. */
  hasNoStatus: boolean;
  /** JSON text of members, by name. */
  members: Record<string, string>;
}

/** Closing tags of each kind of list, innermost first. */
const CLOSINGS: Readonly<Record<string, readonly XmlTag[]>> = {
  envelope: [VALUE_END, PARAM_END, PARAMS_END, RESPONSE_END],
  records: [VALUE_END, MEMBER_END],
  struct: [VALUE_END, MEMBER_END],
  events: [ARRAY_END, VALUE_END, MEMBER_END],
};

const TEXT_MEMBERS = new Set([
  "Status",
  "ErrorDescription",
  "token",
  "valid_ref_counts",
]);

/** Levels of nesting around a record, and around an event. */
const RECORD_DEPTH = 2;
const EVENT_DEPTH = 3;

/** One per thread: tasks run synchronously. */
const builder = new BatchBuilder();
const output = new JsonOutput();

/** Converts XML-RPC to JSON in one pass, bytes to bytes. */
export const xmlReader: Format = (input, classes) =>
  new XmlReader(input, classes).read();

class XmlReader {
  readonly #input: FormatInput;
  readonly #cursor: XmlCursor;
  readonly #transcoder: XmlTranscoder;
  readonly #events: XmlEventReader;
  readonly #model: ClassLayout;
  readonly #state: XmlState;
  #value: { offset: number; length: number; lenient: boolean } | undefined;
  /** Position of the first byte not consumed. */
  #used: number;

  constructor(input: FormatInput, classes: ClassRegistry) {
    this.#input = input;
    const { bytes, start, end, final } = input;
    const cursor = new XmlCursor(bytes, end, final);
    const transcoder = new XmlTranscoder(cursor, output, classes.maxDepth);
    this.#cursor = cursor;
    this.#transcoder = transcoder;
    this.#model = classes.classOf(input.className);
    const tools = { cursor, transcoder, output, builder, classes };
    this.#events = new XmlEventReader(tools);
    this.#used = start;
    this.#state = (input.state as XmlState | undefined) ?? {
      phase: "start",
      hasValue: false,
      hasUnexpectedValue: false,
      hasNoStatus: false,
      members: {},
    };
  }

  read(): FormatOutput {
    const { bytes, start, end, final } = this.#input;
    builder.reset();
    // The JSON is at most twice as long: a character doubles at most, and markup shrinks.
    output.reset(2 * (end - start));
    this.#units();
    if (!isUtf8(bytes.subarray(start, this.#used)))
      throw badAnswer("not UTF-8");
    const isEmpty = builder.count === 0 && this.#value === undefined;
    const buffer = isEmpty ? new ArrayBuffer(0) : output.take();
    const batch = builder.build(buffer);
    return {
      batches: batch === undefined ? [] : [batch],
      tail: bytes.slice(this.#used, end),
      state: this.#state,
      ...(final && { answer: this.#answer(buffer) }),
    };
  }

  /** Reads units until the end of the bytes. */
  #units(): void {
    let written = 0;
    try {
      do written = output.used;
      while (this.#step());
    } catch (error) {
      if (!(error instanceof NeedMore)) throw error;
      output.used = written;
    }
  }

  /** Reads one unit. @returns whether more may follow */
  #step(): boolean {
    switch (this.#state.phase) {
      case "start":
        this.#start();
        return true;
      case "envelope":
        this.#member("done", (name, at) => this.#part(name, at));
        return true;
      case "records":
        this.#record();
        return true;
      case "struct":
        this.#member("envelope", (name, at) => this.#eventsPart(name, at));
        return true;
      case "events":
        this.#event();
        return true;
      case "done":
        return this.#done();
    }
  }

  #start(): void {
    const cursor = this.#cursor;
    const at = skipToValue(cursor, this.#used);
    const struct = cursor.accept(at, STRUCT);
    if (struct >= 0) {
      this.#enter("envelope", struct);
      return;
    }
    // Back to the tag <value>, which the transcoder reads.
    const end = this.#storeValue(at - VALUE.length);
    this.#state.hasNoStatus = true;
    this.#enter("done", this.#closed(end, CLOSINGS["envelope"]!.slice(1)));
  }

  #done(): boolean {
    const at = this.#cursor.space(this.#used);
    const { bytes, end } = this.#input;
    if (at < end) throw badAnswer(`${describeByte(bytes[at])} after the end`);
    this.#used = end;
    return false;
  }

  #enter(phase: Phase, used: number): void {
    this.#state.phase = phase;
    this.#used = used;
  }

  #closed(pos: number, tags: readonly XmlTag[]): number {
    let at = pos;
    for (const tag of tags) at = this.#cursor.expect(at, tag);
    return at;
  }

  /** Reads one member of a struct, or its end, after which `outside` is the phase. */
  #member(outside: Phase, read: (name: string, at: number) => number): void {
    const transcoder = this.#transcoder;
    const { phase } = this.#state;
    const member = transcoder.member(this.#used);
    if (member < 0) {
      const end = this.#closed(transcoder.structEnd, CLOSINGS[phase]!);
      this.#enter(outside, end);
      return;
    }
    const from = output.used;
    const value = transcoder.name(member);
    const name = JSON.parse(output.text(from, output.used)) as string;
    output.used = from;
    const at = read(name, value);
    // A member that opens an inner list has already changed the phase.
    if (this.#state.phase === phase)
      this.#used = this.#cursor.expect(at, MEMBER_END);
  }

  /** A member of the envelope. */
  #part(name: string, at: number): number {
    if (name !== "Value") return this.#storeMember(name, at, 1);
    const cursor = this.#cursor;
    const { shape } = this.#input;
    const value = cursor.accept(at, VALUE);
    const struct =
      shape === "value" || value < 0 ? -1 : cursor.accept(value, STRUCT);
    if (struct < 0) return this.#storeValue(at);
    this.#state.hasValue = true;
    this.#enter(shape === "records" ? "records" : "struct", struct);
    return struct;
  }

  /** A member of the answer of event.from. */
  #eventsPart(name: string, at: number): number {
    if (name !== "events") return this.#storeMember(name, at, 2);
    const list = this.#closed(at, [VALUE, ARRAY, DATA]);
    this.#enter("events", list);
    return list;
  }

  #storeMember(name: string, at: number, depth: number): number {
    const from = output.used;
    const end = this.#transcoder.value(at, undefined, depth);
    if (TEXT_MEMBERS.has(name))
      this.#state.members[name] = output.text(from, output.used);
    output.used = from;
    return end;
  }

  /** The value of the answer, of any type; if the request names a class, a struct is a record of it. */
  #storeValue(at: number): number {
    const cursor = this.#cursor;
    const transcoder = this.#transcoder;
    const { className, shape } = this.#input;
    const offset = output.used;
    transcoder.lenient = false;
    const value = className === "" ? -1 : cursor.accept(at, VALUE);
    const struct = value < 0 ? -1 : cursor.accept(value, STRUCT);
    let end: number;
    if (struct < 0) end = transcoder.value(at, undefined, 1);
    else {
      builder.openColumns(this.#model.columns.count);
      end = transcoder.record(struct, this.#model, 2, builder);
      end = cursor.expect(end, VALUE_END);
    }
    const { lenient } = transcoder;
    this.#state.hasValue = true;
    this.#state.hasUnexpectedValue = shape !== "value";
    if (shape === "value")
      this.#value = { offset, length: output.used - offset, lenient };
    return end;
  }

  /** Reads a record and its reference, or the end of the records. */
  #record(): void {
    const cursor = this.#cursor;
    const transcoder = this.#transcoder;
    const member = transcoder.member(this.#used);
    if (member < 0) {
      const end = this.#closed(transcoder.structEnd, CLOSINGS["records"]!);
      this.#enter("envelope", end);
      return;
    }
    const refOffset = output.used + 1;
    let at = transcoder.name(member);
    const refLength = output.used - 1 - refOffset;
    if (output.bytes.subarray(refOffset, refOffset + refLength).includes(0x5c))
      throw badAnswer("a reference with an escape");
    output.byte(0x3a);
    at = cursor.expect(cursor.expect(at, VALUE), STRUCT);
    const { columns, name } = this.#model;
    builder.openColumns(columns.count);
    const offset = output.used;
    transcoder.lenient = false;
    at = transcoder.record(at, this.#model, RECORD_DEPTH + 1, builder);
    const found = {
      refOffset,
      refLength,
      className: name,
      operation: EventOperation.add,
      offset,
      length: output.used - offset,
      lenient: transcoder.lenient,
    };
    this.#used = this.#closed(at, [VALUE_END, MEMBER_END]);
    builder.add(output, found, columns.count);
  }

  #event(): void {
    const cursor = this.#cursor;
    const end =
      cursor.quick(this.#used, VALUE) >= 0
        ? -1
        : cursor.accept(this.#used, DATA_END);
    if (end < 0) this.#used = this.#events.read(this.#used, EVENT_DEPTH);
    else this.#enter("struct", this.#closed(end, CLOSINGS["events"]!));
  }

  #answer(buffer: ArrayBuffer): RawAnswer {
    const {
      members: kept,
      hasValue,
      hasUnexpectedValue,
      hasNoStatus: bare,
    } = this.#state;
    const encoding = "xml-rpc";
    if (!bare) {
      const error = parseFailure("status", kept, hasValue);
      if (error !== undefined) return { outcome: "failure", encoding, error };
    }
    const { shape } = this.#input;
    if (hasUnexpectedValue)
      throw badAnswer(`the value is not a struct of ${shape}`);
    if (shape === "events")
      return { outcome: "success", encoding, ...parseEventsEnvelope(kept) };
    if (this.#value === undefined) return { outcome: "success", encoding };
    return { outcome: "success", encoding, value: { buffer, ...this.#value } };
  }
}
