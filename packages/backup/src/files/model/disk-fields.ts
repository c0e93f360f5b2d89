import { damaged } from "./file-system-error.js";

/** An unsigned number of 64 bits. @throws FileSystemError `file-system-damaged` if it is beyond 2^53 */
export function uint64(bytes: Buffer, at: number): number {
  return toSafe(bytes.readBigUInt64LE(at));
}

/** The same, big-endian. */
export function uint64BE(bytes: Buffer, at: number): number {
  return toSafe(bytes.readBigUInt64BE(at));
}

function toSafe(value: bigint): number {
  if (value > Number.MAX_SAFE_INTEGER)
    throw damaged(`the number ${value} is too large`);
  return Number(value);
}

/** A GUID as Windows and GPT store it: its first three fields are little-endian. */
export function guidOf(bytes: Buffer, at: number): string {
  const part = (start: number, end: number) =>
    bytes.subarray(at + start, at + end);
  const swapped = (start: number, end: number) =>
    Buffer.from(part(start, end)).reverse().toString("hex");
  return [
    swapped(0, 4),
    swapped(4, 6),
    swapped(6, 8),
    part(8, 10).toString("hex"),
    part(10, 16).toString("hex"),
  ].join("-");
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A name of a Unix file system: UTF-8, or else each byte as one character. */
export function nameOf(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    return Buffer.from(bytes).toString("latin1");
  }
}

/** A text that ends with its first zero, such as a label. */
export function textUntilZero(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return nameOf(end < 0 ? bytes : bytes.subarray(0, end)).trim();
}
