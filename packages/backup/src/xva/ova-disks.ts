import { invalid } from "./xva-error.js";

/** A value of XML-RPC. */
type Value = string | readonly Value[] | ReadonlyMap<string, Value>;

/** ova.xml has about 12 levels. */
const MAX_DEPTH = 64;

/** Tags that hold the text of a value. */
const SCALARS = new Set(["string", "int", "i4", "boolean", "double"]);

/**
 * Reads which files of an XVA belong to which disk. ova.xml is a value of XML-RPC:
 * `objects`, each with `class`, `id` (the folder of its files, such as `Ref:7`) and
 * `snapshot`, its record (xen-api, ocaml/xapi/export.ml).
 * @returns folders by the UUID of the disk
 * @throws RepositoryError `source-invalid`
 */
export function readDiskFolders(xml: string): Map<string, string> {
  const objects = memberOf(parseValue(xml), "objects");
  if (!Array.isArray(objects)) throw invalid("ova.xml has no objects");
  const folders = new Map<string, string>();
  for (const object of objects as readonly Value[]) {
    if (memberOf(object, "class") !== "VDI") continue;
    const folder = memberOf(object, "id");
    const uuid = memberOf(memberOf(object, "snapshot"), "uuid");
    if (typeof folder !== "string" || typeof uuid !== "string")
      throw invalid("ova.xml has a disk without id or uuid");
    folders.set(uuid, folder);
  }
  return folders;
}

function memberOf(value: Value | undefined, name: string): Value | undefined {
  return value instanceof Map
    ? (value as ReadonlyMap<string, Value>).get(name)
    : undefined;
}

/** @throws RepositoryError `source-invalid` */
function parseValue(xml: string): Value {
  const tokens = xml.matchAll(/<(\/?)([\w.]+)\s*(\/?)>|<[?!][^>]*>|([^<]+)/g);
  const reader = new ValueReader(tokens);
  return reader.read();
}

interface Element {
  readonly tag: string;
  text: string;
  readonly children: { readonly tag: string; readonly value: Value }[];
}

/** Builds values from the ends of elements: each is complete when its end tag is read. */
class ValueReader {
  readonly #tokens: Iterable<RegExpMatchArray>;
  readonly #open: Element[] = [{ tag: "", text: "", children: [] }];

  constructor(tokens: Iterable<RegExpMatchArray>) {
    this.#tokens = tokens;
  }

  /** @throws RepositoryError `source-invalid` */
  read(): Value {
    for (const [, slash, tag, isEmpty, text] of this.#tokens) {
      if (text !== undefined) this.#open.at(-1)!.text += text;
      else if (tag === undefined) continue;
      else if (slash === "/") this.#close(tag);
      else {
        this.#open.push({ tag, text: "", children: [] });
        if (this.#open.length > MAX_DEPTH)
          throw invalid(`ova.xml has more than ${MAX_DEPTH} levels`);
        if (isEmpty === "/") this.#close(tag);
      }
    }
    const [root] = this.#open;
    const [first] = root!.children;
    if (this.#open.length > 1 || first === undefined)
      throw invalid("ova.xml is not complete");
    return first.value;
  }

  #close(tag: string): void {
    const element = this.#open.pop()!;
    if (element.tag !== tag || this.#open.length === 0)
      throw invalid(`ova.xml: </${tag}> closes <${element.tag}>`);
    this.#open.at(-1)!.children.push({ tag, value: toValue(element) });
  }
}

function toValue({ tag, text, children }: Element): Value {
  if (tag === "struct")
    return new Map(
      children.flatMap(({ value }) =>
        Array.isArray(value) && typeof value[0] === "string"
          ? [[value[0], (value as readonly Value[])[1] ?? ""] as const]
          : [],
      ),
    );
  if (tag === "member" || tag === "data")
    return children.map(({ value }) => value);
  const [child] = children;
  if (child !== undefined && !SCALARS.has(tag)) return child.value;
  return tag === "array" ? [] : unescape(text);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  apos: "'",
};

function unescape(text: string): string {
  return text.replaceAll(
    /&(\w+);/g,
    (entity, name: string) => ENTITIES[name] ?? entity,
  );
}
