import { createHash } from "node:crypto";
import type { Database } from "../database.js";
import { map, textIn } from "../records/fields.js";
import { xxh64 } from "./xxh64.js";

/** The checksum behind each block of an XVA: a file with this ending. */
type XvaChecksum = "xxhash" | "checksum";

const hashes: Readonly<Record<XvaChecksum, (block: Buffer) => string>> = {
  xxhash: xxh64,
  // Before XenServer 8.3 and XCP-ng 8.3.
  checksum: (block) => createHash("sha1").update(block).digest("hex"),
};

/** Checksum of a block of an XVA, hexadecimal. */
export function checksumOf(kind: XvaChecksum, block: Buffer): string {
  return hashes[kind](block);
}

/** `Ref:4/00000007.xxhash` is of the block `Ref:4/00000007`. */
export function readChecksumName(
  name: string,
): { readonly block: string; readonly kind: XvaChecksum } | undefined {
  const [, block, kind] = /^(.*)\.(xxhash|checksum)$/.exec(name) ?? [];
  return block === undefined ? undefined : { block, kind: kind as XvaChecksum };
}

/** The kind that a host writes, by its product version. */
export function checksumKind(db: Database, host: string): XvaChecksum {
  const software = map(db.get("host", host), "software_version");
  const [major = 0, minor = 0] = textIn(software, "product_version")
    .split(".")
    .map(Number);
  return major > 8 || (major === 8 && minor >= 3) ? "xxhash" : "checksum";
}
