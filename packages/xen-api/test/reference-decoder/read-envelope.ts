import { parseLenient, type WireEncoding } from "@xo-server/model";
import { parseXmlResponse } from "../../src/xmlrpc-value.js";

/** Content of the envelope of an answer. */
export interface Envelope {
  readonly encoding: WireEncoding;
  /** XAPI's error, code first; undefined: success. */
  readonly error: readonly string[] | undefined;
  readonly value: unknown;
}

/** @throws Error with the reason, XoError ANSWER_TOO_DEEP */
export async function readEnvelope(
  text: string,
  encoding: WireEncoding,
  maxDepth: number,
): Promise<Envelope> {
  if (encoding === "json-rpc") return readJsonEnvelope(parseJson(text));
  const answer = await parseXmlResponse(text, maxDepth);
  const inside = encoding === "json-in-xml" ? jsonInside(answer) : undefined;
  return inside === undefined
    ? readStruct(answer, "xml-rpc")
    : readStruct(inside, encoding);
}

/** `{Status, Value}` or `{Status, ErrorDescription}`. system.listMethods answers without this struct (WIRE.md 4). */
function readStruct(answer: unknown, encoding: WireEncoding): Envelope {
  if (!isObject(answer) || !Object.hasOwn(answer, "Status"))
    return { encoding, error: undefined, value: answer };
  if (answer["Status"] !== "Success") {
    const error = toError(answer["ErrorDescription"]);
    return { encoding, error, value: undefined };
  }
  if (!Object.hasOwn(answer, "Value")) throw new Error("no Value");
  return { encoding, error: undefined, value: answer["Value"] };
}

/** The answer may be one string of JSON; current hosts send a struct instead. */
function jsonInside(answer: unknown): unknown {
  return typeof answer === "string" && answer.trimStart().startsWith("{")
    ? parseJson(answer)
    : undefined;
}

/** JSON.parse, or parseLenient for unquoted NaN and 64-bit integers. */
function parseJson(text: string): unknown {
  return /NaN|Infinity|\d{16}/.test(text)
    ? parseLenient(text)
    : JSON.parse(text);
}

function readJsonEnvelope(answer: unknown): Envelope {
  if (!isObject(answer)) throw new Error("not a JSON-RPC answer");
  const error = answer["error"];
  if (error !== undefined && error !== null) {
    // 1.0, and errors before dispatch in any version, have a bare array.
    const parts = isObject(error)
      ? [
          error["message"],
          ...(Array.isArray(error["data"]) ? (error["data"] as unknown[]) : []),
        ]
      : error;
    return { encoding: "json-rpc", error: toError(parts), value: undefined };
  }
  if (!Object.hasOwn(answer, "result"))
    throw new Error("neither result nor error");
  return { encoding: "json-rpc", error: undefined, value: answer["result"] };
}

function toError(parts: unknown): readonly string[] {
  if (!Array.isArray(parts) || typeof parts[0] !== "string")
    throw new Error("an error without a code");
  return parts.map(String);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
