import { badAnswer } from "./bad-input.js";
import { readDecimal } from "./xport-number.js";
import { XportBuilder, type XportTable } from "./xport-table.js";

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;

/** Longer than any element name of this format. */
const LONGEST_NAME = 8;

/**
 * Decodes rrdtool's `<xport><meta>...</meta><data><row><t/><v/>...</row></data></xport>`
 * of hosts without JSON. None of its elements has attributes.
 * @param knownLegend key of a legend that the caller has
 * @throws XoError BAD_ANSWER
 */
export function readXportXml(
  bytes: Uint8Array,
  [start, end]: readonly [number, number],
  knownLegend: string | undefined,
): XportTable {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, end);
  const builder = new XportBuilder();
  const row = { time: NaN };
  let isWhole = false;
  for (let at = start; ;) {
    const open = text.indexOf(LT, at);
    const close = open === -1 ? -1 : text.indexOf(GT, open);
    if (close === -1) break;
    const name = nameIn(text, open + 1, close);
    const next = text.indexOf(LT, close);
    const to = next === -1 ? end : next;
    readElement(builder, row, { name, text, from: close + 1, to });
    isWhole ||= name === "/xport";
    at = close + 1;
  }
  if (!isWhole) throw badAnswer("unexpected end");
  return builder.table(knownLegend);
}

/** The name in a tag, such as `v` or `/row`; "" for the declaration and longer ones. */
function nameIn(text: Buffer, from: number, to: number): string {
  if (to - from > LONGEST_NAME) return "";
  if (to - from === 1) return String.fromCharCode(text[from]!);
  return text[to - 1] === SLASH ? "" : text.toString("latin1", from, to);
}

interface Element {
  readonly name: string;
  readonly text: Buffer;
  /** The text after the tag, up to the next one. */
  readonly from: number;
  readonly to: number;
}

/** Adds what an element contains; `row.time` is that of the current row. */
function readElement(
  builder: XportBuilder,
  row: { time: number },
  { name, text, from, to }: Element,
): void {
  switch (name) {
    case "v":
      builder.value(readDecimal(text, from, to));
      break;
    case "t":
      row.time = readDecimal(text, from, to);
      break;
    case "/row":
      builder.row(row.time);
      row.time = NaN;
      break;
    case "entry":
      builder.name(withoutReferences(text.subarray(from, to)));
      break;
    case "step":
      builder.step = readDecimal(text, from, to);
      break;
    case "end":
      builder.end = readDecimal(text, from, to);
      break;
  }
}

const references: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&apos;": "'",
  "&amp;": "&",
};

function withoutReferences(entry: Buffer): Buffer {
  if (!entry.includes("&")) return entry;
  const text = entry
    .toString()
    .replace(/&(?:lt|gt|quot|apos|amp);/g, (one) => references[one]!);
  return Buffer.from(text);
}
