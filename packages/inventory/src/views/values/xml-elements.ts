/** An element of an XML text: name and attributes as written. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

/** Limits in characters and elements; texts of templates are far smaller. */
const MAX_LENGTH = 65_536;
const MAX_ELEMENTS = 256;

/**
 * Match `</name>`, or `<name a="b" c='d'>` and `<name .../>`, at the current
 * position and without backtracking.
 */
const CLOSING = /<\/([\w:.-]{1,64})\s*>/y;
const OPENING = /<([\w:.-]{1,64})/y;
const ATTRIBUTE = /\s+([\w:.-]{1,64})\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const OPENING_END = /\s*(\/?)>/y;

/**
 * The elements of a small XML text in document order, as in templates (disks,
 * recommendations). A strict subset: declarations and comments are skipped,
 * text content is dropped, entities are not decoded, document types and CDATA
 * sections are rejected.
 * @returns undefined when the text is not well-formed or too long
 */
export function readXmlElements(
  text: string,
): readonly XmlElement[] | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const elements: XmlElement[] = [];
  const open: string[] = [];
  let at = text.indexOf("<");
  while (at >= 0) {
    const end = readMarkup(text, at, elements, open);
    if (end < 0 || elements.length > MAX_ELEMENTS) return undefined;
    at = text.indexOf("<", end);
  }
  return open.length === 0 ? elements : undefined;
}

/** Reads one tag, comment or declaration. @returns the offset behind it, or -1 */
function readMarkup(
  text: string,
  at: number,
  elements: XmlElement[],
  open: string[],
): number {
  if (text.startsWith("<!--", at)) return endOf(text, "-->", at + 4);
  if (text.startsWith("<?", at)) return endOf(text, "?>", at + 2);
  CLOSING.lastIndex = at;
  const closing = CLOSING.exec(text);
  if (closing) return closing[1] === open.pop() ? CLOSING.lastIndex : -1;
  return readOpening(text, at, elements, open);
}

function readOpening(
  text: string,
  at: number,
  elements: XmlElement[],
  open: string[],
): number {
  OPENING.lastIndex = at;
  const name = OPENING.exec(text)?.[1];
  if (name === undefined) return -1;
  const attributes = new Map<string, string>();
  let end = OPENING.lastIndex;
  for (ATTRIBUTE.lastIndex = end; ; end = ATTRIBUTE.lastIndex) {
    const attribute = ATTRIBUTE.exec(text);
    if (!attribute) break;
    attributes.set(attribute[1]!, attribute[2] ?? attribute[3]!);
  }
  OPENING_END.lastIndex = end;
  const tail = OPENING_END.exec(text);
  if (!tail) return -1;
  elements.push({ name, attributes });
  if (tail[1] === "") open.push(name);
  return OPENING_END.lastIndex;
}

function endOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? -1 : at + mark.length;
}
