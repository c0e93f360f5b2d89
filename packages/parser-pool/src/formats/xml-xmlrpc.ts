import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import { XoError } from "@xo-server/model";
import { badAnswer, tooDeep } from "./bad-input.js";
import type { Format, FormatInput } from "./format.js";
import { XmlCursor } from "./xml-cursor.js";
import { doubleOf, integerOf } from "./xml-literal.js";
import { skipProlog } from "./xml-prolog.js";
import { answerFrom, JsonNumber, type XmlValue } from "./xml-value.js";

/** The part of the xmlrpc package's deserializer that is used or replaced. */
interface Deserializer {
  readonly marks: number[];
  readonly stack: XmlValue[];
  value: boolean;
  readonly parser: { readonly _parser: { ENTITIES: object } };
  push(value: XmlValue): void;
  endInt(text: string): void;
  endI8(text: string): void;
  endDouble(text: string): void;
  endBase64(text: string): void;
  endDateTime(text: string): void;
  endStruct(): void;
  onError(error: Error): void;
  deserializeMethodResponse(
    stream: object,
    callback: (error: Error | null, value: XmlValue) => void,
  ): void;
}

const require = createRequire(import.meta.url);

const PORTION = 64 * 1024;

/**
 * The parser of the xmlrpc package. Needs the whole answer, parses it to objects,
 * and accepts some ill-formed XML that the other parsers reject. Its handlers of
 * types for which it loses digits, dates or `__proto__` are replaced.
 */
export const xmlXmlrpc: Format = (input, classes) => {
  const { bytes, start, end } = input;
  skipProlog(new XmlCursor(bytes, end, true), start);
  if (!isUtf8(bytes.subarray(start, end))) throw badAnswer("not UTF-8");
  const response = deserialize(input, classes.maxDepth);
  return answerFrom(response, input, classes);
};

function deserialize(input: FormatInput, maxDepth: number): XmlValue {
  const Constructor =
    require("xmlrpc/lib/deserializer.js") as new () => Deserializer;
  const deserializer = new Constructor();
  adapt(deserializer, maxDepth);
  let outcome: { error: Error | null; value: XmlValue } | undefined;
  try {
    deserializer.deserializeMethodResponse(
      sourceOf(input),
      (error, value) => (outcome ??= { error, value }),
    );
  } catch (error) {
    // After an error sax throws the same error at the next write.
    outcome ??= { error: error as Error, value: null };
  }
  if (outcome === undefined) throw badAnswer("unexpected end");
  const { error, value } = outcome;
  if (error instanceof XoError) throw error;
  if (error !== null && error !== undefined)
    throw badAnswer(`xmlrpc: ${error.message.split("\n")[0]!}`);
  return value;
}

function adapt(deserializer: Deserializer, maxDepth: number): void {
  const push = (value: XmlValue) => {
    deserializer.push(value);
    deserializer.value = false;
  };
  const pushNumber = (json: string | undefined, text: string) => {
    if (json === undefined) throw badAnswer(`'${text.slice(0, 40)}' as number`);
    push(new JsonNumber(json));
  };
  deserializer.endInt = (text) => pushNumber(integerOf(text.trim()), text);
  deserializer.endI8 = (text) => pushNumber(integerOf(text.trim()), text);
  deserializer.endDouble = (text) => pushNumber(doubleOf(text.trim()), text);
  deserializer.endBase64 = push;
  deserializer.endDateTime = push;
  deserializer.endStruct = () => {
    const mark = deserializer.marks.pop() ?? 0;
    const parts = deserializer.stack.splice(mark);
    const struct = new Map<string, XmlValue>();
    for (let i = 0; i + 1 < parts.length; i += 2)
      struct.set(parts[i] as string, parts[i + 1]!);
    push(struct);
  };
  // By default sax also accepts the entities of HTML.
  deserializer.parser._parser.ENTITIES = ENTITIES;
  const { marks } = deserializer;
  const open = marks.push.bind(marks);
  marks.push = (mark: number) => {
    if (marks.length >= maxDepth) throw tooDeep(maxDepth);
    return open(mark);
  };
}

const ENTITIES = { amp: "&", gt: ">", lt: "<", quot: '"', apos: "'" };

/** A stream-like source for the deserializer, which emits all chunks synchronously. */
function sourceOf({ bytes, start, end }: FormatInput): object {
  const source = {
    setEncoding: () => undefined,
    on: () => source,
    pipe(parser: { write(bytes: Buffer): void; end(): void }) {
      for (let at = start; at < end; at += PORTION)
        parser.write(
          Buffer.from(bytes.buffer, at, Math.min(PORTION, end - at)),
        );
      parser.end();
    },
  };
  return source;
}
