import { RepositoryError } from "../errors.js";
import type { XmlElement } from "./xml-element.js";

const MAX_DEPTH = 64;
const MAX_ELEMENTS = 1_000_000;

interface OpenElement extends XmlElement {
  readonly tag: string;
  readonly children: XmlElement[];
  text: string;
}

const SPACE = "[ \\t\\r\\n]";
const NAME = "[A-Za-z_][\\w.:-]*";
/** An end tag or a start tag at `lastIndex`. */
const TAG = new RegExp(
  [
    `</(${NAME})${SPACE}*>`,
    `<(${NAME})((?:${SPACE}+${NAME}${SPACE}*=${SPACE}*(?:"[^"<]*"|'[^'<]*'))*)${SPACE}*(/?)>`,
  ].join("|"),
  "y",
);
const ATTRIBUTE = new RegExp(
  `(${NAME})${SPACE}*=${SPACE}*(?:"([^"]*)"|'([^']*)')`,
  "g",
);

/**
 * Reads an XML document without a document type: there are no entities but the
 * predefined ones and numbers.
 * @throws RepositoryError `source-invalid`
 */
export function parseXml(xml: string): XmlElement {
  return new XmlReader(xml).read();
}

class XmlReader {
  readonly #xml: string;
  readonly #tag = new RegExp(TAG);
  readonly #open = [newElement("", new Map())];
  #at: number;
  #count = 0;

  constructor(xml: string) {
    this.#xml = xml;
    this.#at = xml.startsWith("\uFEFF") ? 1 : 0;
  }

  read(): XmlElement {
    while (this.#at < this.#xml.length) {
      if (this.#skip("<!--", "-->") || this.#skip("<?", "?>")) continue;
      if (this.#xml.startsWith("<![CDATA[", this.#at)) this.#readLiteral();
      else if (this.#xml[this.#at] === "<") this.#readTag();
      else this.#readText();
    }
    const { children } = this.#open[0]!;
    if (this.#open.length > 1)
      throw invalid(`<${this.#open.at(-1)!.tag}> is not closed`);
    if (children.length !== 1) throw invalid("it has no single root element");
    return children[0]!;
  }

  #readText(): void {
    const end = this.#xml.indexOf("<", this.#at);
    const text = this.#xml.slice(this.#at, end < 0 ? undefined : end);
    this.#open.at(-1)!.text += unescape(text);
    this.#at += text.length;
  }

  #readLiteral(): void {
    const start = this.#at + "<![CDATA[".length;
    this.#skip("<![CDATA[", "]]>");
    this.#open.at(-1)!.text += this.#xml.slice(start, this.#at - "]]>".length);
  }

  /** @returns false: something else begins here */
  #skip(start: string, end: string): boolean {
    if (!this.#xml.startsWith(start, this.#at)) return false;
    const found = this.#xml.indexOf(end, this.#at + start.length);
    if (found < 0) throw invalid(`${start} without ${end}`);
    this.#at = found + end.length;
    return true;
  }

  #readTag(): void {
    this.#tag.lastIndex = this.#at;
    const match = this.#tag.exec(this.#xml);
    if (match === null)
      throw invalid(`no valid markup at character ${this.#at}`);
    const [tag, endTag, startTag = "", attributes = "", slash] = match;
    this.#at += tag.length;
    if (endTag !== undefined) {
      close(this.#open, endTag);
      return;
    }
    if (++this.#count > MAX_ELEMENTS)
      throw invalid(`more than ${MAX_ELEMENTS} elements`);
    if (this.#open.length > MAX_DEPTH)
      throw invalid(`more than ${MAX_DEPTH} levels`);
    this.#open.push(newElement(startTag, readAttributes(attributes)));
    if (slash === "/") close(this.#open, startTag);
  }
}

function newElement(
  tag: string,
  attributes: ReadonlyMap<string, string>,
): OpenElement {
  return { tag, name: withoutPrefix(tag), attributes, children: [], text: "" };
}

function close(open: OpenElement[], tag: string): void {
  const element = open.at(-1)!;
  if (open.length === 1 || element.tag !== tag)
    throw invalid(`</${tag}> closes <${element.tag}>`);
  open.pop();
  open.at(-1)!.children.push(element);
}

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map();

function readAttributes(text: string): ReadonlyMap<string, string> {
  if (text === "") return NO_ATTRIBUTES;
  const attributes = new Map<string, string>();
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE))
    if (!name!.startsWith("xmlns"))
      attributes.set(withoutPrefix(name!), unescape(double ?? single ?? ""));
  return attributes;
}

function withoutPrefix(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** @throws RepositoryError `source-invalid` for an unknown entity */
function unescape(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&([^;&]{0,10});?/g, (entity, name: string) => {
    const known = ENTITIES.get(name);
    if (known !== undefined && entity.endsWith(";")) return known;
    const [, hex, digits] = /^#(?:x([\da-fA-F]+)|(\d+))$/.exec(name) ?? [];
    const code = hex === undefined ? Number(digits) : parseInt(hex, 16);
    if (!(code > 0 && code <= 0x10_ffff)) throw invalid(`unknown ${entity}`);
    return String.fromCodePoint(code);
  });
}

function invalid(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", `XML: ${reason}`);
}
