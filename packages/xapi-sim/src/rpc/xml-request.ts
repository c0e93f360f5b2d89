import {
  MAX_DEPTH,
  MalformedRequest,
  type RpcRequest,
  type WireValue,
} from "./wire-value.js";

/**
 * Reads an XML-RPC call as XAPI's reader does: white space between tags is allowed,
 * a DTD is skipped and its entities are unknown, `<params>` is required.
 *
 * @throws MalformedRequest
 */
export function readXmlRequest(body: Buffer): RpcRequest {
  return new XmlRequestReader(decode(body)).call();
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(
      body,
    );
  } catch {
    const offset = firstBadByte(body);
    throw new MalformedRequest(
      `Xmlm.Error(${position(body.toString("latin1"), offset)}, "malformed character stream")`,
    );
  }
}

/** Offset of the first byte that is not UTF-8. */
function firstBadByte(body: Buffer): number {
  const text = body.toString("utf8");
  const mark = text.indexOf("\ufffd");
  return Buffer.byteLength(text.slice(0, Math.max(0, mark)));
}

/** Xmlm's `line:column`, both from 1. */
function position(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return `${line}:${offset - before.lastIndexOf("\n")}`;
}

const NAMED: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

class XmlRequestReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  call(): RpcRequest {
    this.#prolog();
    this.#open("methodCall");
    this.#open("methodName");
    const method = this.#chars().trim();
    this.#close("methodName");
    this.#space();
    if (this.#text.startsWith("</", this.#at)) this.#unexpected("open_tag");
    if (this.#selfClosed("params")) return { method, params: [] };
    this.#open("params");
    const params: WireValue[] = [];
    while (!this.#closes()) {
      this.#open("param");
      params.push(this.#value(0));
      this.#close("param");
    }
    this.#close("params");
    this.#close("methodCall");
    return { method, params };
  }

  #value(depth: number): WireValue {
    if (depth > MAX_DEPTH) throw new MalformedRequest("Stack_overflow");
    if (this.#selfClosed("value")) return { t: "string", v: "" };
    this.#open("value");
    const start = this.#at;
    const chars = this.#chars();
    if (this.#closes()) {
      this.#close("value");
      return { t: "string", v: chars };
    }
    if (chars.trim() !== "") this.#unexpected("open_tag", start);
    const value = this.#typed(this.#peekName(), depth);
    this.#close("value");
    return value;
  }

  #typed(tag: string, depth: number): WireValue {
    if (this.#selfClosed(tag))
      return tag === "struct" ? { t: "struct", v: [] } : fromText(tag, "");
    this.#open(tag);
    let value: WireValue;
    if (tag === "array") value = this.#array(depth);
    else if (tag === "struct") value = this.#struct(depth);
    else value = fromText(tag, this.#chars());
    this.#close(tag);
    return value;
  }

  #array(depth: number): WireValue {
    const items: WireValue[] = [];
    if (!this.#selfClosed("data")) {
      this.#open("data");
      while (!this.#closes()) items.push(this.#value(depth + 1));
      this.#close("data");
    }
    return { t: "array", v: items };
  }

  #struct(depth: number): WireValue {
    const members: [string, WireValue][] = [];
    while (!this.#closes()) {
      this.#open("member");
      this.#open("name");
      const name = this.#chars();
      this.#close("name");
      members.push([name, this.#value(depth + 1)]);
      this.#close("member");
    }
    return { t: "struct", v: members };
  }

  #prolog(): void {
    for (;;) {
      this.#space();
      if (this.#text.startsWith("<?", this.#at)) this.#skipPast("?>");
      else if (this.#text.startsWith("<!--", this.#at)) this.#skipPast("-->");
      else if (this.#text.startsWith("<!DOCTYPE", this.#at)) this.#doctype();
      else break;
    }
    if (this.#at >= this.#text.length) this.#fail("unexpected end of input");
    if (this.#text[this.#at] !== "<") this.#fail("expected root element");
  }

  /** Skipped, never read: no entity of it exists for us. */
  #doctype(): void {
    let depth = 0;
    for (; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at]!;
      if (c === "<" || c === "[") depth++;
      if (c === ">" || c === "]") depth--;
      if (depth === 0) break;
    }
    this.#at++;
  }

  #open(name: string): void {
    this.#space();
    const tag = this.#peekName();
    if (tag !== name)
      throw new MalformedRequest(
        `Xmlrpc.Parse_error("open_tag(${tag})", "open_tag(${name})", _)`,
      );
    this.#skipPast(">");
  }

  #close(name: string): void {
    this.#space();
    if (!this.#text.startsWith(`</${name}`, this.#at)) {
      if (this.#at >= this.#text.length) this.#fail("unexpected end of input");
      this.#unexpected("close_tag");
    }
    this.#skipPast(">");
  }

  #closes(): boolean {
    this.#space();
    if (this.#at >= this.#text.length) this.#fail("unexpected end of input");
    return this.#text.startsWith("</", this.#at);
  }

  /** Consumes `<name/>` if it is next. */
  #selfClosed(name: string): boolean {
    this.#space();
    const match = /^<([\w.:-]+)\s*\/>/.exec(
      this.#text.slice(this.#at, this.#at + name.length + 16),
    );
    if (match?.[1] !== name) return false;
    this.#at += match[0].length;
    return true;
  }

  #peekName(): string {
    if (this.#at >= this.#text.length) this.#fail("unexpected end of input");
    const match = /^<([\w.:-]+)/.exec(
      this.#text.slice(this.#at, this.#at + 64),
    );
    if (match === null) this.#unexpected("open_tag");
    return match[1]!;
  }

  /** Text up to the next tag, references replaced. */
  #chars(): string {
    let chars = "";
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at]!;
      if (c === "&") chars += this.#reference();
      else if (this.#text.startsWith("<![CDATA[", this.#at)) {
        const start = this.#at + 9;
        this.#skipPast("]]>");
        chars += this.#text.slice(start, this.#at - 3);
      } else if (this.#text.startsWith("<!--", this.#at)) this.#skipPast("-->");
      else if (c === "<") return chars;
      else {
        const next = this.#text.slice(this.#at).search(/[<&]/);
        const end = next < 0 ? this.#text.length : this.#at + next;
        // As every XML reader: CR and CRLF become LF.
        chars += this.#text.slice(this.#at, end).replace(/\r\n?/g, "\n");
        this.#at = end;
      }
    }
    this.#fail("unexpected end of input");
  }

  #reference(): string {
    const match = /^&(#x[0-9a-fA-F]+|#\d+|[\w.:-]+);/.exec(
      this.#text.slice(this.#at, this.#at + 64),
    );
    if (match === null) this.#fail("malformed character stream");
    const [whole, name] = match as unknown as [string, string];
    const text = name.startsWith("#")
      ? fromCodePoint(name.slice(1))
      : Object.hasOwn(NAMED, name)
        ? NAMED[name]
        : undefined;
    if (text === undefined) {
      this.#at += whole.length;
      this.#fail(`unknown entity reference (${name})`);
    }
    this.#at += whole.length;
    return text;
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #skipPast(end: string): void {
    const at = this.#text.indexOf(end, this.#at);
    if (at < 0) {
      this.#at = this.#text.length;
      this.#fail("unexpected end of input");
    }
    this.#at = at + end.length;
  }

  #unexpected(requested: string, at = this.#at): never {
    const closes = this.#text.startsWith("</", at);
    const found = closes ? "close_tag" : "open_tag";
    throw new MalformedRequest(
      `Xmlrpc.Parse_error("${found}", "${requested}", _)`,
    );
  }

  #fail(reason: string): never {
    throw new MalformedRequest(
      `Xmlm.Error(${position(this.#text, this.#at)}, "${reason}")`,
    );
  }
}

function fromCodePoint(digits: string): string | undefined {
  const code = digits.startsWith("x")
    ? parseInt(digits.slice(1), 16)
    : parseInt(digits, 10);
  const allowed =
    code === 9 ||
    code === 10 ||
    code === 13 ||
    (code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
  return allowed ? String.fromCodePoint(code) : undefined;
}

function fromText(tag: string, text: string): WireValue {
  switch (tag) {
    case "string":
    case "base64":
      return { t: "string", v: text };
    case "int":
    case "i4":
    case "i8":
      if (!/^\s*[-+]?\d+\s*$/.test(text))
        throw new MalformedRequest(`Failure("Int64.of_string")`);
      return { t: "int", v: BigInt(text.trim().replace(/^\+/, "")) };
    case "double":
      return { t: "float", v: toFloat(text) };
    case "boolean":
      return { t: "bool", v: text.trim() === "1" || text.trim() === "true" };
    case "dateTime.iso8601":
      return { t: "datetime", v: text };
    case "nil":
      return { t: "null" };
    default:
      throw new MalformedRequest(
        `Xmlrpc.Parse_error("open_tag(${tag})", "value", _)`,
      );
  }
}

function toFloat(text: string): number {
  const value = parseFloatText(text);
  if (value === undefined)
    throw new MalformedRequest(`Failure("float_of_string")`);
  return value;
}

/** OCaml's float_of_string: knows `nan`, `inf`, `-inf` too. Undefined where it is not a number. */
export function parseFloatText(text: string): number | undefined {
  const word = text.trim().toLowerCase();
  if (/^[-+]?nan$/.test(word)) return NaN;
  if (/^\+?inf(inity)?$/.test(word)) return Infinity;
  if (/^-inf(inity)?$/.test(word)) return -Infinity;
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/.test(word)) return undefined;
  return Number(word);
}
