import { badAnswer } from "./bad-input.js";
import type { JsonOutput } from "./json-output.js";
import type { XmlCursor } from "./xml-cursor.js";
import { NAME_END } from "./xml-tag.js";

const LT = 0x3c;
const AMPERSAND = 0x26;
const SPACE = 0x20;
const QUOTE = 0x22;
const SEMICOLON = 0x3b;

/** Length of `&#x10FFFF;` with a few leading zeros. */
const LONGEST_REFERENCE = 16;

const LITTLE_ENDIAN = true;

/** The five predefined entities: the first four bytes as a number, the length with '&' and ';', and the character. */
const PREDEFINED = [
  { text: "&quot;", code: QUOTE },
  { text: "&amp;", code: AMPERSAND },
  { text: "&lt;", code: LT },
  { text: "&gt;", code: 0x3e },
  { text: "&apos;", code: 0x27 },
].map(({ text, code }) => ({
  code,
  length: text.length,
  word: Buffer.from(text).readInt32LE(),
  last: text.charCodeAt(text.length - 2),
}));

/**
 * Copies bytes up to the first special one: a '<', a '&', a '"', a '\\',
 * a control character, or the stop byte at the end. Four bytes at once: most
 * text has none of those, nor the few others below '\''.
 *
 * @returns the position of that byte
 */
function copyPlain(cursor: XmlCursor, pos: number, output: JsonOutput): number {
  const { bytes, view, end } = cursor;
  const { bytes: to, view: toView } = output;
  let used = output.used;
  let at = pos;
  while (at < end) {
    const word = view.getInt32(at, LITTLE_ENDIAN);
    const lt = word ^ 0x3c3c3c3c;
    const backslash = word ^ 0x5c5c5c5c;
    const odd =
      (((word - 0x27272727) & ~word) |
        ((lt - 0x01010101) & ~lt) |
        ((backslash - 0x01010101) & ~backslash)) &
      0x80808080;
    toView.setInt32(used, word, LITTLE_ENDIAN);
    if (odd === 0) {
      at += 4;
      used += 4;
      continue;
    }
    // The lowest bit that is set marks the first such byte.
    const plain = (31 - Math.clz32(odd & -odd)) >> 3;
    at += plain;
    used += plain;
    const c = bytes[at]!;
    if (c > AMPERSAND || c < SPACE || c === QUOTE || c === AMPERSAND) break;
    to[used++] = c;
    at++;
  }
  output.used = used;
  return at;
}

/**
 * Copies the text at `pos` up to the next tag, as the content of a JSON string.
 * Line ends are not normalized: XAPI does not escape CR, and JSON-RPC keeps it too.
 *
 * @returns the position of the tag
 */
export function copyText(
  cursor: XmlCursor,
  pos: number,
  output: JsonOutput,
): number {
  let at = copyPlain(cursor, pos, output);
  while (cursor.bytes[at] !== LT)
    at = copyPlain(cursor, copyOdd(cursor, at, output), output);
  return at;
}

/** Handles a character that cannot be copied unchanged. */
function copyOdd(cursor: XmlCursor, pos: number, output: JsonOutput): number {
  if (pos >= cursor.end) throw cursor.missing();
  const c = cursor.bytes[pos]!;
  if (c === AMPERSAND) {
    const reference = referenceAt(cursor, pos);
    if (reference === undefined)
      throw badAnswer("an entity that XML does not predefine");
    output.character(reference.code);
    return reference.end;
  }
  if (c < 0x20 && c !== 0x09 && c !== 0x0a && c !== 0x0d)
    throw badAnswer("a control character");
  output.character(c);
  return pos + 1;
}

/** The character reference at `pos`; undefined if invalid. Entities of a DTD are not supported. */
function referenceAt(
  cursor: XmlCursor,
  pos: number,
): { readonly code: number; readonly end: number } | undefined {
  const { bytes, view } = cursor;
  const word = view.getInt32(pos, LITTLE_ENDIAN);
  for (const { word: requested, length, last, code } of PREDEFINED) {
    if (word !== requested) continue;
    const end = pos + length;
    const isWhole =
      end <= cursor.end &&
      bytes[end - 1] === SEMICOLON &&
      bytes[end - 2] === last;
    if (isWhole) return { code, end };
  }
  let at = pos + 1;
  while (bytes[at] !== SEMICOLON) {
    if (at >= cursor.end) throw cursor.missing();
    if (at - pos > LONGEST_REFERENCE || bytes[at] === LT) return undefined;
    at++;
  }
  const name = Buffer.from(bytes.buffer, pos + 1, at - pos - 1).toString();
  const code = characterOf(name);
  return code === undefined ? undefined : { code, end: at + 1 };
}

function characterOf(name: string): number | undefined {
  const match = /^#(?:x([0-9a-fA-F]+)|([0-9]+))$/.exec(name);
  if (match === null) return undefined;
  const code =
    match[1] === undefined ? parseInt(match[2]!, 10) : parseInt(match[1], 16);
  const isCharacter =
    code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? code : undefined;
}

/**
 * Copies the name of a member, up to `</name>`, as the content of a JSON string.
 * XAPI does not escape names: invalid references and '<' are copied unchanged.
 *
 * @returns the position after the closing tag
 */
export function copyName(
  cursor: XmlCursor,
  pos: number,
  output: JsonOutput,
): number {
  const { bytes, end } = cursor;
  let at = pos;
  for (;;) {
    at = copyPlain(cursor, at, output);
    if (at >= end) throw cursor.missing();
    const c = bytes[at]!;
    if (c === LT) {
      if (at + NAME_END.length > end) throw cursor.missing();
      if (NAME_END.isAt(cursor.view, at)) return at + NAME_END.length;
    }
    const reference = c === AMPERSAND ? referenceAt(cursor, at) : undefined;
    output.character(reference?.code ?? c);
    at = reference?.end ?? at + 1;
  }
}

const QUOT = Buffer.from("&quo").readInt32LE();
const QUOT_END = Buffer.from("t;").readInt16LE();

/**
 * Copies text up to the next tag or to the end of the bytes, with references
 * replaced by their characters.
 *
 * @returns where it stopped: at a '<', at an incomplete reference, or at the end
 */
export function unescapeText(
  cursor: XmlCursor,
  pos: number,
  output: JsonOutput,
): number {
  const { bytes, view, end } = cursor;
  const { bytes: to, view: toView } = output;
  let used = output.used;
  let at = pos;
  while (at < end) {
    // Four bytes at a time, up to the first '&', '<' or the stop byte at the end.
    const word = view.getInt32(at, LITTLE_ENDIAN);
    const lt = word ^ 0x3c3c3c3c;
    const ampersand = word ^ 0x26262626;
    const odd =
      (((lt - 0x01010101) & ~lt) |
        ((ampersand - 0x01010101) & ~ampersand) |
        ((word - 0x01010101) & ~word)) &
      0x80808080;
    toView.setInt32(used, word, LITTLE_ENDIAN);
    if (odd === 0) {
      at += 4;
      used += 4;
      continue;
    }
    const plain = (31 - Math.clz32(odd & -odd)) >> 3;
    at += plain;
    used += plain;
    const c = bytes[at]!;
    if (c === LT) break;
    if (c !== AMPERSAND) {
      // A NUL in the text, which the JSON reader rejects.
      if (at >= end) break;
      at++;
      used++;
      continue;
    }
    const isQuote =
      at + 6 <= end &&
      view.getInt32(at, LITTLE_ENDIAN) === QUOT &&
      view.getInt16(at + 4, LITTLE_ENDIAN) === QUOT_END;
    if (isQuote) {
      to[used++] = QUOTE;
      at += 6;
      continue;
    }
    const reference = wholeReference(cursor, at);
    if (reference === undefined) break;
    output.used = used;
    output.raw(reference.code);
    used = output.used;
    at = reference.end;
  }
  output.used = used;
  return at;
}

/** The reference at `pos`; undefined if incomplete. */
function wholeReference(cursor: XmlCursor, pos: number) {
  const { bytes, end } = cursor;
  const near = bytes.subarray(pos, Math.min(end, pos + LONGEST_REFERENCE + 2));
  if (!near.includes(SEMICOLON) && near.length <= LONGEST_REFERENCE)
    return undefined;
  const reference = referenceAt(cursor, pos);
  if (reference === undefined)
    throw badAnswer("an entity that XML does not predefine");
  return reference;
}
