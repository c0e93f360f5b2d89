import type { FileHandle } from "node:fs/promises";
import type { FrameThread } from "./frame-thread.js";
import {
  readFrame,
  type DecryptedFrame,
  type FramePosition,
} from "./read-frame.js";

/**
 * Files up to this size are decrypted on the main thread, in about 1 ms:
 * starting a thread takes longer.
 */
const MAX_SMALL_BYTES = 1 << 20;

/** Reads the frames of one file, which stays open meanwhile. */
export interface FrameSource {
  /**
   * Resolves with undefined where the file has no further valid frame.
   * @throws Error the file cannot be read
   */
  read(position: FramePosition): Promise<DecryptedFrame | undefined>;
}

export interface FrameFile {
  readonly file: FileHandle;
  readonly size: number;
  /** Key of the file (`fileKey`). */
  readonly key: Uint8Array;
}

/** Calls `use` with a source of the frames of a file. */
export async function withFrames<T>(
  { file, size, key }: FrameFile,
  thread: FrameThread,
  use: (source: FrameSource) => Promise<T>,
): Promise<T> {
  if (size > MAX_SMALL_BYTES)
    return thread.use(() =>
      use({
        read: (position) => thread.read({ ...position, fd: file.fd, key }),
      }),
    );
  const content = Buffer.alloc(size);
  await file.read(content, 0, size, 0);
  const read = (at: number, length: number) =>
    content.subarray(at, at + length);
  return use({
    read: (position) => Promise.resolve(readFrame(position, key, read)),
  });
}
