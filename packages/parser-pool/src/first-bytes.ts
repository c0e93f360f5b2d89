const SHOWN_BYTES = 80;

/** First bytes of an answer for an error message: at most 80, printable, references masked (a session reference is a credential). */
export function firstBytes(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString("latin1");
  return text
    .replace(/[^\x20-\x7e]/g, ".")
    .replace(/OpaqueRef:[\w-]*/g, "OpaqueRef:...");
}
