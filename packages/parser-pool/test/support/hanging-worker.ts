import decode from "../../src/worker.js";
import type { DecodeTask } from "../../src/decode-task.js";

/** The worker, but the result of a piece that contains `"hang"` is never sent. */
export default function decodeOrHang(task: DecodeTask): unknown {
  const hangs = task.pieces.some(({ bytes, start, end }) =>
    Buffer.from(bytes.subarray(start, end)).includes('"hang"'),
  );
  const result = decode(task);
  while (hangs);
  return result;
}
