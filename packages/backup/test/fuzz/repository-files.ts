import { RepositoryError } from "../../src/errors.js";
import { decodeRegion, encodeRegion } from "../../src/format/region.js";
import { parseKeySlot } from "../../src/keys/key-slot.js";
import { parseRecoveryKey } from "../../src/keys/recovery-sheet.js";
import { parseParityHeader } from "../../src/parity/parity-file.js";
import { parseConfig } from "../../src/repository/repository-config.js";

/** Readers of files of a repository that are not encrypted, or whose keys others have; by number. */
const readers: readonly ((input: Buffer) => unknown)[] = [
  parseConfig,
  parseKeySlot,
  (input) => parseRecoveryKey(input.toString("utf8")),
  parseParityHeader,
  decodeRegion,
];

export const seeds = [
  "\u0000null",
  '\u0000{"format":"xo-backup-repository","version":1,"id":"a"}',
  '\u0001{"version":1,"kdf":{"name":"scrypt","n":131072},"salt":"","key":""}',
  "\u0002ABCD-EFGH",
  "\u0003",
  Buffer.concat([
    Buffer.from([4]),
    encodeRegion(["00".repeat(32)], Buffer.alloc(0)),
  ]),
];

/** The first byte selects the reader. Each of them rejects a file by an error of its own. */
export function run(input: Buffer): void {
  const read = readers[(input[0] ?? 0) % readers.length]!;
  try {
    read(input.subarray(1));
  } catch (error) {
    // Bounds of buffers and the documented errors; a TypeError is a defect.
    const isDocumented =
      error instanceof RepositoryError ||
      error instanceof RangeError ||
      (error instanceof Error && error.constructor === Error);
    if (!isDocumented) throw error;
  }
}
