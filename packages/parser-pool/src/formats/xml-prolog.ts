import { badAnswer, describeByte } from "./bad-input.js";
import type { XmlCursor } from "./xml-cursor.js";
import { PARAM, PARAMS, RESPONSE, VALUE } from "./xml-tag.js";

const LT = 0x3c;
const GT = 0x3e;
const DASH = 0x2d;
const BANG = 0x21;
const QUESTION = 0x3f;

/** Skips from the start of the document to after the `<value>` tag of the response. */
export function skipToValue(cursor: XmlCursor, pos: number): number {
  let at = cursor.expect(skipProlog(cursor, pos), RESPONSE);
  if (cursor.accept(at, PARAMS) < 0) {
    if (cursor.tag(at) === "<fault>") throw badAnswer("an XML-RPC fault");
    throw cursor.unexpected(at, PARAMS.text);
  }
  at = cursor.expect(at, PARAMS);
  return cursor.expect(cursor.expect(at, PARAM), VALUE);
}

/** Skips byte-order mark, XML declaration and comments. Rejects a document type declaration: XAPI never sends one, and it could define entities. */
export function skipProlog(cursor: XmlCursor, pos: number): number {
  const { bytes } = cursor;
  const hasMark =
    bytes[pos] === 0xef && bytes[pos + 1] === 0xbb && bytes[pos + 2] === 0xbf;
  let at = cursor.space(hasMark ? pos + 3 : pos);
  for (;;) {
    if (at >= cursor.end)
      throw cursor.final && at === pos
        ? badAnswer("empty answer")
        : cursor.missing();
    if (bytes[at] !== LT)
      throw badAnswer(`${describeByte(bytes[at])} instead of '<'`);
    const c = bytes[at + 1];
    if (c === BANG) at = skipComment(cursor, at);
    else if (c === QUESTION) at = skipPast(cursor, at + 2, QUESTION);
    else return at;
    at = cursor.space(at);
  }
}

function skipComment(cursor: XmlCursor, pos: number): number {
  const { bytes, end } = cursor;
  for (let at = pos + 2; at < pos + 4; at++) {
    if (at >= end) throw cursor.missing();
    if (bytes[at] !== DASH)
      throw badAnswer("a document type declaration or other markup");
  }
  return skipPast(cursor, pos + 4, DASH);
}

/** The position after the next '>' that follows `byte`. */
function skipPast(cursor: XmlCursor, pos: number, byte: number): number {
  const { bytes, end } = cursor;
  for (let at = pos; at < end; at++)
    if (bytes[at] === GT && bytes[at - 1] === byte) return at + 1;
  throw cursor.missing();
}
