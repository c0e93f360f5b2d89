import { randomBytes } from "node:crypto";
import { layout } from "./layout.js";

const MAGIC = Buffer.from("XOMEMORY");
const LAYOUT_AT = MAGIC.length;
const GENERATION_AT = LAYOUT_AT + layout.length;
const SALT_AT = 32;
const SALT_BYTES = 32;

/** Every file begins with a head: magic, layout, generation, salt. It is the salt of the file's key: not a bit of it can be changed. */
export const HEAD_BYTES = SALT_AT + SALT_BYTES;

export function createHead(generation: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  layout.copy(head, LAYOUT_AT);
  head.writeUInt32LE(generation, GENERATION_AT);
  randomBytes(SALT_BYTES).copy(head, SALT_AT);
  return head;
}

/** Why a file with this head is not to be read; undefined: it is. */
export function problemOfHead(
  head: Buffer,
  generation: number,
): string | undefined {
  if (head.length < HEAD_BYTES || !head.subarray(0, LAYOUT_AT).equals(MAGIC))
    return "it does not begin as it should";
  if (!head.subarray(LAYOUT_AT, GENERATION_AT).equals(layout))
    return "it is of another version of xo-server";
  if (head.readUInt32LE(GENERATION_AT) !== generation)
    return "it belongs under another name";
  return undefined;
}
