import { createHash } from "node:crypto";
import { tarFile } from "./tar-writer.js";

/** Bytes of a disk in each file of an XVA; the last one of a disk may be shorter. */
export const XVA_BLOCK = 1024 * 1024;
/** Hexadecimal SHA-1. */
export const CHECKSUM_SIZE = 40;

/** The file of a block and that of its checksum. @param folder of the disk, `Ref:7` */
export function xvaBlock(
  folder: string,
  block: number,
  bytes: Buffer,
): Buffer[] {
  const name = `${folder}/${String(block).padStart(8, "0")}`;
  const sum = createHash("sha1").update(bytes).digest("hex");
  return [
    ...tarFile(name, bytes),
    ...tarFile(`${name}.checksum`, Buffer.from(sum)),
  ];
}
