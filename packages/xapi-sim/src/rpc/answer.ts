import type { FieldType } from "../field-type.js";
import type { XapiValue } from "../xapi-value.js";
import { toJson } from "./json-writer.js";
import { toXml } from "./xml-writer.js";

/** A piece of a body; big ones are cached Buffers that are written as they are, or made while they are written. */
export type Chunk = string | Buffer | LazyBytes;

/** Bytes whose number is known before they are there. */
export interface LazyBytes {
  /** In bytes. */
  readonly length: number;
  /** Makes the bytes, a piece at a time. */
  pieces(): Iterable<Buffer>;
}

/** The value of a response, which can be written in both formats. */
export interface Answer {
  json(): readonly Chunk[];
  /** The value in XML, with its `<value>` element. */
  xml(): readonly (string | Buffer)[];
}

/** A value of the datamodel's type; no type: void, an empty string on the wire. */
export function valueAnswer(
  type: FieldType | undefined,
  value: XapiValue | undefined,
): Answer {
  if (type === undefined) return VOID;
  return {
    json: () => [toJson(type, value!)],
    xml: () => [toXml(type, value!)],
  };
}

const VOID: Answer = {
  json: () => ['""'],
  xml: () => ["<value></value>"],
};
