import { badAnswer, describeByte } from "./bad-input.js";
import type { XmlCursor } from "./xml-cursor.js";
import { PARAM, PARAMS, RESPONSE, VALUE } from "./xml-tag.js";

const LT = 0x3c;
const GT = 0x3e;
const DASH = 0x2d;
const BANG = 0x21;
const QUESTION = 0x3f;

/** From the start of the document to behind the one `<value>` of the response. */
export function skipToValue(cursor: XmlCursor, pos: number): number {
  let at = cursor.expect(skipProlog(cursor, pos), RESPONSE);
  if (cursor.accept(at, PARAMS) < 0) {
    if (cursor.tag(at) === "<fault>") throw badAnswer("an XML-RPC fault");
    throw cursor.unexpected(at, PARAMS.text);
  }
  at = cursor.expect(at, PARAMS);
  return cursor.expect(cursor.expect(at, PARAM), VALUE);
}

/** The byte-order mark, the XML declaration and comments. A document type declaration is refused: XAPI never sends one, and entities live there. */
export function skipProlog(cursor: XmlCursor, pos: number): number {
  const { bytes } = cursor;
  const hasMark =
    bytes[pos] === 0xef && bytes[pos + 1] === 0xbb && bytes[pos + 2] === 0xbf;
  let at = cursor.space(hasMark ? pos + 3 : pos);
  for (;;) {
    if (at >= cursor.end)
      throw cursor.final && at === pos
        ? badAnswer("it is empty")
        : cursor.missing();
    if (bytes[at] !== LT)
      throw badAnswer(`${describeByte(bytes[at])} where '<' should be`);
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

/** Behind the next '>' that follows `byte`. */
function skipPast(cursor: XmlCursor, pos: number, byte: number): number {
  const { bytes, end } = cursor;
  for (let at = pos; at < end; at++)
    if (bytes[at] === GT && bytes[at - 1] === byte) return at + 1;
  throw cursor.missing();
}
