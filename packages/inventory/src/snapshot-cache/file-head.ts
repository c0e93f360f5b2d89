import { randomBytes } from "node:crypto";
import { layout } from "./layout.js";

/**
 * Part of the on-disk format: do not change without counting up FORMAT in
 * layout.ts.
 */
const MAGIC = Buffer.from("XOMEMORY");
const LAYOUT_OFFSET = MAGIC.length;
const GENERATION_OFFSET = LAYOUT_OFFSET + layout.length;
const SALT_OFFSET = 32;
const SALT_BYTES = 32;

/**
 * Every file begins with a head of 64 bytes: magic, layout, generation, salt.
 * The whole head is the HKDF salt of the file's key: if a bit of it changes, no
 * frame can be decrypted.
 */
export const HEAD_BYTES = SALT_OFFSET + SALT_BYTES;

/**
 * A new head with a random salt.
 * @param generation number of the file, as in its name (see SnapshotFolder)
 */
export function createHead(generation: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  layout.copy(head, LAYOUT_OFFSET);
  head.writeUInt32LE(generation, GENERATION_OFFSET);
  randomBytes(SALT_BYTES).copy(head, SALT_OFFSET);
  return head;
}

/**
 * Reason why a file with this head cannot be read; undefined when it can.
 * @param generation as in the name of the file; absent: a copy, whose name is another
 */
export function headProblem(
  head: Buffer,
  generation?: number,
): string | undefined {
  if (
    head.length < HEAD_BYTES ||
    !head.subarray(0, LAYOUT_OFFSET).equals(MAGIC)
  )
    return "the file head is damaged";
  if (!head.subarray(LAYOUT_OFFSET, GENERATION_OFFSET).equals(layout))
    return "it was written by another version of xo-server";
  if (
    generation !== undefined &&
    head.readUInt32LE(GENERATION_OFFSET) !== generation
  )
    return "the generation in the file head does not match the file name";
  return undefined;
}
