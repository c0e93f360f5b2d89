import { createRequire } from "node:module";
import { isMainThread } from "node:worker_threads";
import { XoError } from "@xo-server/model";
import type { ClassRegistry } from "./class-registry.js";
import { badAnswer, tooDeep } from "./bad-input.js";
import type { Format, FormatInput, FormatOutput } from "./format.js";
import { XmlCursor } from "./xml-cursor.js";
import { LITERALS, TEXT_TYPES } from "./xml-literal.js";
import { skipProlog } from "./xml-prolog.js";
import { xmlReader } from "./xml-reader.js";
import {
  answerFrom,
  JsonNumber,
  type XmlStruct,
  type XmlValue,
} from "./xml-value.js";

/** The part of node-expat that is used. */
interface ExpatParser {
  on(
    event: "startElement" | "endElement",
    listen: (name: string) => void,
  ): void;
  on(event: "text", listen: (text: string) => void): void;
  /** @returns false: see getError */
  parse(bytes: Buffer, isFinal: boolean): boolean;
  getError(): string | null;
}

interface ExpatModule {
  readonly Parser: new (encoding: string) => ExpatParser;
}

const require = createRequire(import.meta.url);

/** Size of a typical socket read, in bytes. */
const PORTION = 64 * 1024;

let loaded: ExpatModule | Error | undefined;

/**
 * The native Expat. Needs the whole answer. node-expat 2.4 is not thread-safe: its
 * state belongs to the thread that loaded it first, and one run in four ended with
 * SIGSEGV when a second worker loaded it (Node 20.20, 2026-11-21). So only the
 * main thread uses it. If it cannot be loaded, our own reader is used and the
 * output has `fallbackReason`.
 *
 * @throws XoError UNSUPPORTED: it cannot be loaded and xmlStrict is set
 */
export const xmlExpat: Format = (input, classes) => {
  const expat = (loaded ??= load(classes.expatModule));
  if (expat instanceof Error) {
    const reason = expat.message.split("\n")[0]!;
    if (classes.expatOnly)
      throw new XoError("UNSUPPORTED", { what: "node-expat", reason });
    return { ...xmlReader(input, classes), fallbackReason: reason };
  }
  return parse(new expat.Parser("UTF-8"), input, classes);
};

function load(name: string): ExpatModule | Error {
  if (!isMainThread) return new Error("it does not support worker threads");
  try {
    return require(name) as ExpatModule;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function parse(
  parser: ExpatParser,
  input: FormatInput,
  classes: ClassRegistry,
): FormatOutput {
  const { bytes, start, end } = input;
  // Rejects a document type declaration, whose entities Expat would expand.
  skipProlog(new XmlCursor(bytes, end, true), start);
  const builder = new ResponseBuilder(classes.maxDepth);
  parser.on("startElement", (name) => builder.open(name));
  parser.on("endElement", (name) => builder.close(name));
  parser.on("text", (text) => builder.append(text));
  for (let at = start; at < end; at += PORTION) {
    const to = Math.min(end, at + PORTION);
    const portion = Buffer.from(bytes.buffer, at, to - at);
    const isGood = parser.parse(portion, to === end);
    if (builder.failure !== undefined) throw builder.failure;
    if (!isGood) throw badAnswer(`Expat: ${parser.getError() ?? "no reason"}`);
  }
  return answerFrom(builder.response(), input, classes);
}

/** A struct or array being built, and the name of the current member. */
interface Frame {
  readonly into: XmlStruct | XmlValue[];
  name: string;
}

/** Builds the value of a response from parser events. Errors are stored, not thrown, as the caller is native code. */
class ResponseBuilder {
  failure: Error | undefined;
  readonly #maxDepth: number;
  readonly #frames: Frame[] = [{ into: [], name: "" }];
  #text = "";
  /** The current value; undefined: untagged, the value is the text. */
  #value: XmlValue | undefined;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  append(text: string): void {
    this.#text += text;
  }

  open(name: string): void {
    if (this.failure !== undefined) return;
    this.#text = "";
    if (name === "value") this.#value = undefined;
    else if (name === "struct") this.#push(new Map<string, XmlValue>());
    else if (name === "array") this.#push([]);
    else if (name === "fault") this.failure = badAnswer("an XML-RPC fault");
  }

  close(name: string): void {
    if (this.failure !== undefined) return;
    if (name === "name") this.#frames.at(-1)!.name = this.#text;
    else if (name === "value") this.#add(this.#value ?? this.#text);
    else if (name === "struct" || name === "array")
      this.#value = this.#frames.pop()!.into;
    else if (name === "nil") this.#value = null;
    else if (TEXT_TYPES.includes(name)) this.#value = this.#text;
    else if (LITERALS.has(name)) this.#value = this.#literal(name);
    else if (!STRUCTURE.has(name))
      this.failure = badAnswer(`the tag <${name}>`);
    this.#text = "";
  }

  /** @throws XoError BAD_ANSWER: not exactly one value */
  response(): XmlValue {
    const { into } = this.#frames[0]!;
    if (!Array.isArray(into) || into.length !== 1)
      throw badAnswer("not an XML-RPC response");
    return into[0]!;
  }

  #push(into: XmlStruct | XmlValue[]): void {
    if (this.#frames.length > this.#maxDepth)
      this.failure = tooDeep(this.#maxDepth);
    this.#frames.push({ into, name: "" });
  }

  #add(value: XmlValue): void {
    const frame = this.#frames.at(-1)!;
    if (Array.isArray(frame.into)) frame.into.push(value);
    else frame.into.set(frame.name, value);
    this.#value = undefined;
  }

  #literal(type: string): XmlValue {
    const json = LITERALS.get(type)!(this.#text.trim());
    if (json === undefined) {
      this.failure = badAnswer(`'${this.#text.slice(0, 40)}' in <${type}>`);
      return null;
    }
    return type === "boolean" ? json === "true" : new JsonNumber(json);
  }
}

const STRUCTURE = new Set([
  "methodResponse",
  "params",
  "param",
  "data",
  "member",
]);
