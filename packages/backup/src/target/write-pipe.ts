import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { RestoreProgress } from "../read/restore-file.js";
import type { Image } from "./image.js";
import { counted, progressOf, type TransferOptions } from "./upload.js";

/** Writes an image to a stream, and ends it. @throws Error of the stream */
export async function writePipe(
  image: Image,
  output: Writable,
  options: TransferOptions = {},
): Promise<RestoreProgress> {
  const { signal } = options;
  await pipeline(counted(image, options), output, {
    ...(signal && { signal }),
  });
  return progressOf(image.length, image.length);
}
