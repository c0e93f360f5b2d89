import { XoError } from "@xo-server/model";

/** Bytes of a VHD's footer; a dynamic one begins with a copy of it. */
export const FOOTER_BYTES = 512;

const COOKIE = "conectix";
const DYNAMIC = 3;

/**
 * Reads the size of the disk in a VHD from its first bytes.
 * @returns bytes
 * @throws XoError INVALID_PARAMETERS: not a VHD, or not a dynamic one
 */
export function readVhdSize(footer: Buffer): number {
  const isVhd =
    footer.length === FOOTER_BYTES &&
    footer.toString("latin1", 0, COOKIE.length) === COOKIE &&
    footer.readUInt32BE(64) === checksum(footer);
  if (!isVhd) throw invalid("not a valid VHD file");
  if (footer.readUInt32BE(60) !== DYNAMIC)
    throw invalid(
      "only dynamic VHD is supported, not fixed or differencing VHD",
    );
  const size = Number(footer.readBigUInt64BE(48));
  if (!Number.isSafeInteger(size) || size === 0)
    throw invalid("not a valid VHD file: it has no size");
  return size;
}

/** The complement of the sum of all bytes, with the field itself as zero. */
function checksum(footer: Buffer): number {
  let sum = 0;
  for (let i = 0; i < footer.length; i++)
    if (i < 64 || i >= 68) sum += footer[i]!;
  return ~sum >>> 0;
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
