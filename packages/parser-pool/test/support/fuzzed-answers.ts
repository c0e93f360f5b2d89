import { XoError, type AnswerShape, type WireEncoding } from "@xo-server/model";
import { createParserPool } from "../../src/parser-pool.js";

/** Small segments: every answer is decoded in several pieces. */
const pool = createParserPool({
  place: "main",
  segmentBytes: 64,
  maxDepth: 64,
});
const SHAPES: readonly AnswerShape[] = ["value", "records", "events"];

/**
 * Decodes an answer: the first byte selects the shape, the rest is the body.
 * @throws what is not an XoError
 */
export async function decodeAnswer(
  encoding: WireEncoding,
  input: Buffer,
): Promise<void> {
  const shape = SHAPES[(input[0] ?? 0) % SHAPES.length]!;
  const stream = pool.open(
    { encoding, shape, className: "VM", priority: "call", lane: "fuzz" },
    { onBatch: () => undefined },
  );
  try {
    for (let at = 1; at < input.length;) {
      const space = stream.space();
      const piece = input.subarray(at, at + space.length);
      space.set(piece);
      stream.commit(piece.length);
      at += piece.length;
    }
    await stream.end();
  } catch (error) {
    if (!(error instanceof XoError)) throw error;
  }
}

/** Seeds of a body, in each shape. */
export function inEachShape(...bodies: readonly string[]): string[] {
  return bodies.flatMap((body) =>
    SHAPES.map((_, i) => String.fromCharCode(i) + body),
  );
}
