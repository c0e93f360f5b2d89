import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import { peek } from "./peek.js";

/** Name of the first file in the archive. */
const FIRST = Buffer.from("ova.xml\0", "latin1");
const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** @throws XoError INVALID_PARAMETERS: the first bytes are not those of an XVA file */
export async function checkXva(body: Readable): Promise<void> {
  const start = await peek(body, 16);
  const begins = (bytes: Buffer) =>
    start.subarray(0, bytes.length).equals(bytes);
  if (![FIRST, GZIP, ZSTD].some(begins))
    throw new XoError("INVALID_PARAMETERS", { reason: "not a valid XVA file" });
}
