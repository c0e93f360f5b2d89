import type { Readable } from "node:stream";
import type { AnswerPart } from "./answer-memory.js";

const FIRST_BYTES = 64 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The body in a few parts with buffers of their own, which can be transferred
 * to a worker.
 * @throws XoError ANSWER_TOO_LARGE; the stream's own error
 */
export async function collectBody(
  body: Readable,
  memory: Pick<AnswerPart, "add" | "complete">,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let part = new Uint8Array(FIRST_BYTES);
  let used = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    // An error that leaves the loop destroys the stream.
    memory.add(chunk.length);
    for (let at = 0; at < chunk.length;) {
      if (used === part.length) {
        parts.push(part);
        part = new Uint8Array(Math.min(2 * part.length, MAX_BYTES));
        used = 0;
      }
      const length = Math.min(chunk.length - at, part.length - used);
      part.set(chunk.subarray(at, at + length), used);
      used += length;
      at += length;
    }
  }
  memory.complete();
  return [...parts, part.subarray(0, used)];
}
