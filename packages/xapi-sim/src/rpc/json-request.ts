import {
  MAX_DEPTH,
  MalformedRequest,
  ocamlEscape,
  type RpcRequest,
  type WireValue,
} from "./wire-value.js";

/** A JSON-RPC call; the response has the same version and id. */
export interface JsonRequest extends RpcRequest {
  readonly version: "1.0" | "2.0";
  /** As JSON text: integers keep all their digits. */
  readonly id: string;
}

/**
 * Reads a JSON-RPC 1.0 or 2.0 call from text, as strict and as lenient as XAPI.
 *
 * @throws MalformedRequest
 */
export function readJsonRequest(text: string): JsonRequest {
  const value = new JsonReader(text).document();
  if (value.t !== "struct") malformed("Invalid request body");
  const members = new Map(value.v);
  const version = readVersion(members.get("jsonrpc"));
  const method = required(members, "method");
  if (method.t !== "string")
    malformed("Invalid field 'method' in request body");
  return {
    version,
    method: method.v,
    params: readParams(version, members.get("params")),
    id: readId(members.get("id")),
  };
}

function readVersion(value: WireValue | undefined): "1.0" | "2.0" {
  if (value === undefined) return "1.0";
  if (value.t === "string" && value.v === "2.0") return "2.0";
  malformed("Invalid field 'jsonrpc' in request body");
}

function readParams(
  version: "1.0" | "2.0",
  value: WireValue | undefined,
): readonly WireValue[] {
  if (value === undefined && version === "1.0")
    malformed("Required field params is missing");
  if (value === undefined || (value.t === "null" && version === "2.0"))
    return [];
  if (value.t === "array") return value.v;
  // Named parameters do not exist: the object is one positional parameter.
  if (value.t === "struct" && version === "2.0") return [value];
  malformed("Invalid field 'params' in request body");
}

function readId(value: WireValue | undefined): string {
  if (value?.t === "int") return String(value.v);
  if (value?.t === "string") return JSON.stringify(value.v);
  malformed("Invalid field 'id' in request body");
}

function required(
  members: ReadonlyMap<string, WireValue>,
  name: string,
): WireValue {
  return members.get(name) ?? malformed(`Required field ${name} is missing`);
}

function malformed(reason: string): never {
  throw new MalformedRequest(`Jsonrpc.Malformed_method_request("${reason}")`);
}

const NUMBER = /-?\d+(\.\d+)?([eE][-+]?\d+)?/y;

/** JSON as Yojson reads it: `NaN` and `Infinity` are numbers, and an integer is not a float. */
class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): WireValue {
    this.#space();
    if (this.#at === this.#text.length)
      throw new MalformedRequest(
        'Yojson__Common.Json_error("Blank input data")',
      );
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length)
      this.#fail(
        `Junk after end of JSON value: '${this.#text.slice(this.#at)}'`,
      );
    return value;
  }

  #value(depth: number): WireValue {
    if (depth > MAX_DEPTH) throw new MalformedRequest("Stack_overflow");
    const c = this.#text[this.#at];
    if (c === "{") return this.#struct(depth);
    if (c === "[") return this.#array(depth);
    if (c === '"') return { t: "string", v: this.#string() };
    if (c === "<") {
      // Yojson knows variants: what follows should be a name.
      this.#at++;
      this.#unexpected("Expected string or identifier but found");
    }
    return this.#word() ?? this.#number();
  }

  #struct(depth: number): WireValue {
    const members: [string, WireValue][] = [];
    this.#at++;
    this.#space();
    while (!this.#take("}")) {
      if (members.length > 0) this.#expect(",");
      this.#space();
      if (this.#text[this.#at] !== '"')
        this.#unexpected("Expected string or identifier but found");
      const name = this.#string();
      this.#space();
      this.#expect(":");
      this.#space();
      members.push([name, this.#value(depth + 1)]);
      this.#space();
    }
    return { t: "struct", v: members };
  }

  #array(depth: number): WireValue {
    const items: WireValue[] = [];
    this.#at++;
    this.#space();
    while (!this.#take("]")) {
      if (items.length > 0) this.#expect(",");
      this.#space();
      items.push(this.#value(depth + 1));
      this.#space();
    }
    return { t: "array", v: items };
  }

  #string(): string {
    const start = this.#at++;
    for (; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at];
      if (c === "\\") this.#at++;
      else if (c === '"') return this.#unescape(start, ++this.#at);
    }
    this.#fail("Unexpected end of input");
  }

  #unescape(start: number, end: number): string {
    const raw = this.#text.slice(start, end);
    // Yojson takes control characters inside strings as they are; JSON.parse does not.
    const clean = raw.replace(
      // eslint-disable-next-line no-control-regex -- these are the ones meant
      /[\u0000-\u001f]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    let text: string;
    try {
      text = JSON.parse(clean) as string;
    } catch {
      // The text has been split as JSON: only an escape sequence can be invalid.
      this.#fail("Invalid escape sequence");
    }
    if (/\p{Surrogate}/u.test(text)) {
      this.#at = end - 1;
      this.#fail(
        `Missing escape sequence representing low surrogate for code point beyond U+FFFF '${this.#text.slice(end - 1, end + 2)}'`,
      );
    }
    return text;
  }

  #word(): WireValue | undefined {
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return undefined;
  }

  #number(): WireValue {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) this.#unexpected("Invalid token");
    this.#at += match[0].length;
    const text = match[0];
    return /[.eE]/.test(text)
      ? { t: "float", v: Number(text) }
      : { t: "int", v: BigInt(text) };
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #take(c: string): boolean {
    if (this.#text[this.#at] !== c) return false;
    this.#at++;
    return true;
  }

  #expect(c: string): void {
    if (!this.#take(c)) this.#unexpected(`Expected '${c}' but found`);
  }

  #unexpected(reason: string): never {
    if (this.#at >= this.#text.length) {
      this.#at = this.#text.length - 1;
      this.#fail("Unexpected end of input");
    }
    const rest = Buffer.from(this.#text.slice(this.#at, this.#at + 33));
    this.#fail(`${reason} '${rest.subarray(0, 33).toString()}'`);
  }

  /** Yojson's text: offsets in bytes, at most 34 of them. */
  #fail(reason: string): never {
    const start = Buffer.byteLength(this.#text.slice(0, this.#at));
    const end = Math.min(Buffer.byteLength(this.#text), start + 34);
    throw new MalformedRequest(
      `Yojson__Common.Json_error("${ocamlEscape(`Line 1, bytes ${start}-${end}:\n${reason}`)}")`,
    );
  }
}

const WORDS: readonly (readonly [string, WireValue])[] = [
  ["true", { t: "bool", v: true }],
  ["false", { t: "bool", v: false }],
  ["null", { t: "null" }],
  ["NaN", { t: "float", v: NaN }],
  ["Infinity", { t: "float", v: Infinity }],
  ["-Infinity", { t: "float", v: -Infinity }],
];
