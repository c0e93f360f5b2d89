const SHOWN_BYTES = 80;

/** How an answer began, for an error: at most 80 bytes, printable, references masked (one may be a session's, which is a password). */
export function firstBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString("latin1");
  return text
    .replace(/[^\x20-\x7e]/g, ".")
    .replace(/OpaqueRef:[\w-]*/g, "OpaqueRef:...");
}
