import type { ClassRegistry } from "./class-registry.js";
import { badAnswer, NeedMore, describeByte } from "./bad-input.js";
import {
  SLACK,
  type Format,
  type FormatInput,
  type FormatOutput,
  type RawAnswer,
} from "./format.js";
import { JsonOutput } from "./json-output.js";
import { JsonSplitter } from "./json-splitter.js";
import { XmlCursor } from "./xml-cursor.js";
import { skipToValue } from "./xml-prolog.js";
import {
  PARAM_END,
  PARAMS_END,
  RESPONSE_END,
  VALUE_END,
  XmlTag,
} from "./xml-tag.js";
import { unescapeText } from "./xml-text.js";

const STRING = new XmlTag("<string>");
const STRING_END = new XmlTag("</string>");
const LT = 0x3c;
const OPEN_BRACE = 0x7b;

/** A struct whose Value is one string of JSON, in the two ways to write its strings. */
const STRUCT_STARTS = ["Success", "<string>Success</string>"].map((status) =>
  Buffer.from(
    `<struct><member><name>Status</name><value>${status}</value></member><member><name>Value</name><value>`,
  ),
);
const STRUCT_END = [
  VALUE_END,
  new XmlTag("</member>"),
  new XmlTag("</struct>"),
  VALUE_END,
  PARAM_END,
  PARAMS_END,
  RESPONSE_END,
];
const STRING_ANSWER_END = [VALUE_END, PARAM_END, PARAMS_END, RESPONSE_END];
/** The envelope around the Value of a struct, as JSON. */
const ENVELOPE_START = '{"Status":"Success","Value":';
const ENVELOPE_END = "}";

/** First bytes of JSON text that are not XML-RPC value of XAPI in place of a Value: `{`, `[`, `"`. */
const JSON_STARTS = new Set([OPEN_BRACE, 0x5b, 0x22]);

/** One per thread: tasks run synchronously. */
const output = new JsonOutput();

/** State between two pieces: plain data. */
interface JsonInXmlState {
  /** `detect`: not known yet. `xml`: plain XML-RPC. `json`: inside the string. `close`: after the string. */
  phase: "detect" | "xml" | "json" | "close";
  /** The string is in a `<string>` element. */
  tagged: boolean;
  /**
   * The string is the Value of a struct, not the whole envelope. `begun`: its JSON envelope was
   * opened.
   */
  struct: "none" | "found" | "begun";
  /** Bytes at the start of the next piece that are already unescaped. */
  ready: number;
  /** State of the splitter, or of the XML format. */
  inner: unknown;
  answer: RawAnswer | undefined;
}

/**
 * XML-RPC whose value is one string of JSON, `{"Status":...,"Value":...}`. Some
 * hosts answer with a struct of which only the Value is JSON. Current hosts answer
 * the same request with plain XML-RPC: the format detects this and delegates to
 * `xml`.
 */
export function jsonInXml(xml: Format): Format {
  return (input, classes) => {
    const state = (input.state as JsonInXmlState | undefined) ?? {
      phase: "detect",
      tagged: false,
      struct: "none",
      ready: 0,
      inner: undefined,
      answer: undefined,
    };
    return new JsonInXmlReader(input, state, { classes, xml }).read();
  };
}

class JsonInXmlReader {
  readonly #input: FormatInput;
  readonly #state: JsonInXmlState;
  readonly #classes: ClassRegistry;
  readonly #xml: Format;

  constructor(
    input: FormatInput,
    state: JsonInXmlState,
    { classes, xml }: { classes: ClassRegistry; xml: Format },
  ) {
    this.#input = input;
    this.#state = state;
    this.#classes = classes;
    this.#xml = xml;
  }

  read(): FormatOutput {
    const { start } = this.#input;
    try {
      return this.#read(start);
    } catch (error) {
      if (!(error instanceof NeedMore)) throw error;
      return this.#rest(start);
    }
  }

  #read(start: number): FormatOutput {
    const { bytes, end, final } = this.#input;
    const state = this.#state;
    const cursor = new XmlCursor(bytes, end, final);
    let at = start;
    if (state.phase === "detect") at = this.#detect(cursor, at);
    if (state.phase === "xml") {
      const inner = { ...this.#input, state: state.inner };
      const output = this.#xml(inner, this.#classes);
      state.inner = output.state;
      return { ...output, state };
    }
    if (state.phase === "json") return this.#split(cursor, at);
    return this.#close(cursor, at);
  }

  /** Detects the kind of answer. @returns the start of the string if it is one */
  #detect(cursor: XmlCursor, start: number): number {
    const state = this.#state;
    let at = skipToValue(cursor, start);
    if (at >= cursor.end) throw cursor.missing();
    const value = structValue(cursor, at);
    if (value >= 0) at = value;
    const string = cursor.bytes[at] === LT ? cursor.accept(at, STRING) : -1;
    if (string >= 0) at = string;
    const inside = cursor.space(at);
    if (inside >= cursor.end) throw cursor.missing();
    const first = cursor.bytes[inside]!;
    const isJson = value >= 0 ? JSON_STARTS.has(first) : first === OPEN_BRACE;
    state.phase = isJson ? "json" : "xml";
    state.tagged = string >= 0;
    state.struct = isJson && value >= 0 ? "found" : "none";
    return isJson ? at : start;
  }

  /** Unescapes the XML text and splits the JSON. */
  #split(cursor: XmlCursor, start: number): FormatOutput {
    const { bytes, end } = this.#input;
    const state = this.#state;
    const inside = start + state.ready;
    output.reset(end - start + ENVELOPE_START.length + ENVELOPE_END.length);
    if (state.struct === "found") output.ascii(ENVELOPE_START);
    // The tail of the previous piece is already unescaped.
    output.copy(bytes, start, inside);
    const stop = unescapeText(cursor, inside, output);
    const isWhole = stop < end && bytes[stop] === LT;
    if (isWhole && state.struct !== "none") output.ascii(ENVELOPE_END);
    const length = output.used;
    const json = new Uint8Array(output.take(SLACK));
    if (!isWhole && this.#input.final) throw cursor.missing();
    const { shape, className } = this.#input;
    const split = new JsonSplitter(
      {
        bytes: json,
        start: 0,
        end: length,
        final: isWhole,
        shape,
        className,
        state: state.inner,
      },
      this.#classes,
      "status",
    ).split();
    state.inner = split.state;
    if (state.struct === "found") state.struct = "begun";
    state.ready = split.tail.length;
    if (!isWhole) return this.#rest(stop, split);
    state.phase = "close";
    state.answer = split.answer;
    return this.#tryClose(cursor, stop, split);
  }

  #tryClose(cursor: XmlCursor, at: number, output: FormatOutput): FormatOutput {
    try {
      return { ...this.#close(cursor, at), batches: output.batches };
    } catch (error) {
      if (!(error instanceof NeedMore)) throw error;
      return this.#rest(at, output);
    }
  }

  #close(cursor: XmlCursor, start: number): FormatOutput {
    const { bytes, end, final } = this.#input;
    const state = this.#state;
    let at = start;
    if (state.tagged) at = cursor.expect(at, STRING_END);
    const tags = state.struct === "begun" ? STRUCT_END : STRING_ANSWER_END;
    for (const tag of tags) at = cursor.expect(at, tag);
    at = cursor.space(at);
    if (at < end) throw badAnswer(`${describeByte(bytes[at])} after its end`);
    // Only white space may follow; the closing tags are read again with the next piece.
    const { answer } = state;
    if (!final || answer === undefined) return this.#rest(start);
    return { batches: [], tail: new Uint8Array(0), state, answer };
  }

  /** The tail: the JSON that the splitter did not consume, then the bytes from `at` on. */
  #rest(at: number, output?: FormatOutput): FormatOutput {
    const { bytes, end } = this.#input;
    const left = bytes.subarray(at, end);
    const json = output?.tail ?? new Uint8Array(0);
    const tail = new Uint8Array(json.length + left.length);
    tail.set(json);
    tail.set(left, json.length);
    const batches = output?.batches ?? [];
    return { batches, tail, state: this.#state };
  }
}

/** The position of the Value of a struct that has succeeded; -1: something else. */
function structValue(cursor: XmlCursor, start: number): number {
  const { bytes, end } = cursor;
  for (const text of STRUCT_STARTS) {
    let i = 0;
    while (i < text.length && start + i < end && bytes[start + i] === text[i])
      i++;
    if (i === text.length) return start + i;
    if (start + i >= end && !cursor.final) throw cursor.missing();
  }
  return -1;
}
