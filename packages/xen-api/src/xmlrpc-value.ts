import { PassThrough } from "node:stream";
import { XoError } from "@xo-server/model";
import Deserializer from "xmlrpc/lib/deserializer.js";

/**
 * The parser of the xmlrpc package, adapted to XAPI: dates stay strings, doubles
 * may be `nan` or `inf`, integers keep all digits, `__proto__` is an ordinary
 * member name, a DTD is rejected and the nesting depth is limited.
 */
class XapiDeserializer extends Deserializer {
  readonly #maxDepth: number;

  constructor(maxDepth: number) {
    super();
    this.#maxDepth = maxDepth;
    this.parser.on("doctype", () => {
      this.onError(new Error("DTD not allowed"));
    });
  }

  override onOpentag(node: { name: string }): void {
    super.onOpentag(node);
    if (this.marks.length > this.#maxDepth) {
      this.onError(new XoError("ANSWER_TOO_DEEP", { limit: this.#maxDepth }));
    }
  }

  override endStruct(): void {
    const mark = this.marks.pop() ?? 0;
    const items = this.stack.splice(mark);
    const entries: [string, unknown][] = [];
    for (let i = 0; i < items.length; i += 2)
      entries.push([String(items[i]), items[i + 1]]);
    this.push(Object.fromEntries(entries));
    this.value = false;
  }

  override endInt(text: string): void {
    this.push(toInteger(text));
    this.value = false;
  }

  override endI8(text: string): void {
    this.endInt(text);
  }

  override endDouble(text: string): void {
    this.push(toFloat(text));
    this.value = false;
  }

  override endDateTime(text: string): void {
    this.push(text);
    this.value = false;
  }

  override endBase64(text: string): void {
    this.push(text);
    this.value = false;
  }
}

/**
 * The value of an XML-RPC response; untagged integers are strings (see
 * toDeclaredType).
 * @throws XoError ANSWER_TOO_DEEP; Error with the reason
 */
export function parseXmlResponse(
  xml: string,
  maxDepth: number,
): Promise<unknown> {
  const source = new PassThrough();
  source.end(xml);
  return new Promise((resolve, reject) => {
    new XapiDeserializer(maxDepth).deserializeMethodResponse(
      source,
      (error, value) => {
        if (error === null || error === undefined) resolve(value);
        else reject(error);
      },
    );
  });
}

/** A string of one line without markup, such as a reference: nearly all results of tasks. */
const PLAIN_VALUE =
  /^<value>(?:([\w:.,/=+-]*)|<string>([\w:.,/=+-]*)<\/string>)<\/value>$/;

/**
 * Value of the `result` of a task: a `<value>` element without a document. Hundreds
 * of tasks can end in one answer, and a parser takes 0.3 ms to create: plain
 * strings are read without.
 */
export async function parseXmlFragment(fragment: string): Promise<unknown> {
  const plain = PLAIN_VALUE.exec(fragment);
  if (plain !== null) return plain[1] ?? plain[2] ?? "";
  const xml = `<methodResponse><params><param>${fragment}</param></params></methodResponse>`;
  return parseXmlResponse(xml, 100);
}

/** @throws Error if the text is not an integer */
export function toInteger(text: string): number | bigint {
  if (!/^\s*[-+]?\d+\s*$/.test(text))
    throw new Error(`not an integer: ${text.slice(0, 40)}`);
  const number = Number(text);
  return Number.isSafeInteger(number)
    ? number
    : BigInt(text.trim().replace("+", ""));
}

/**
 * Parses a number as written by OCaml's printf, including `nan` and `inf`.
 * @throws Error if the text is not a number
 */
export function toFloat(text: string): number {
  const bare = text.trim().toLowerCase();
  if (/^[-+]?nan$/.test(bare)) return NaN;
  if (/^[-+]?inf(inity)?$/.test(bare))
    return bare.startsWith("-") ? -Infinity : Infinity;
  const number = Number(bare);
  if (bare === "" || Number.isNaN(number))
    throw new Error(`not a number: ${bare.slice(0, 40)}`);
  return number;
}
