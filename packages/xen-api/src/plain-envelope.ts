import { parseLenient, type WireEncoding } from "@xo-server/model";
import { parseXmlResponse } from "./xmlrpc-value.js";

/** An answer without its dress. */
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
  // system.listMethods answers without Status and Value (WIRE.md 4).
  if (!isObject(answer) || !Object.hasOwn(answer, "Status"))
    return withJsonText(answer, encoding);
  if (answer["Status"] === "Success") {
    if (!Object.hasOwn(answer, "Value")) throw new Error("no Value");
    return withJsonText(answer["Value"], encoding);
  }
  return {
    encoding: "xml-rpc",
    error: toError(answer["ErrorDescription"]),
    value: undefined,
  };
}

/** JSON.parse where it will do; bare NaN and 64-bit integers need more. */
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

/** Where JSON in XML was asked for: a text that is a JSON string, array or object is that. */
function withJsonText(value: unknown, encoding: WireEncoding): Envelope {
  if (
    encoding === "json-in-xml" &&
    typeof value === "string" &&
    /^\s*["[{]/.test(value)
  ) {
    try {
      return { encoding, error: undefined, value: parseJson(value) };
    } catch {
      // A text after all, from a host that answers plain XML-RPC.
    }
  }
  return { encoding: "xml-rpc", error: undefined, value };
}

function toError(parts: unknown): readonly string[] {
  if (!Array.isArray(parts) || typeof parts[0] !== "string")
    throw new Error("an error without a code");
  return parts.map(String);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
