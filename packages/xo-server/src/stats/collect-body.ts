import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";

const FIRST_BYTES = 64 * 1024;
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The body in a few parts with buffers of their own, which can be transferred
 * to a worker.
 * @throws XoError ANSWER_TOO_LARGE; the stream's own error
 */
export async function collectBody(
  body: Readable,
  limit: number,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let part = new Uint8Array(FIRST_BYTES);
  let used = 0;
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the stream.
    if (bytes > limit) throw new XoError("ANSWER_TOO_LARGE", { bytes, limit });
    for (let at = 0; at < chunk.length;) {
      if (used === part.length) {
        parts.push(part);
        part = new Uint8Array(Math.min(2 * part.length, MOST_BYTES));
        used = 0;
      }
      const length = Math.min(chunk.length - at, part.length - used);
      part.set(chunk.subarray(at, at + length), used);
      used += length;
      at += length;
    }
  }
  return [...parts, part.subarray(0, used)];
}
