import type { FileHandle } from "node:fs/promises";
import type { StoreContent } from "../store/store-content.js";
import type { Disk } from "./disk.js";
import { HEAD_BYTES, headProblem } from "./file-head.js";
import { fileKey } from "./file-key.js";
import { FrameCipher } from "./frame-cipher.js";
import { FrameWriter } from "./frame-writer.js";
import { restoreStore, type RestoredStore } from "./restore-store.js";
import type { SnapshotThread } from "./snapshot-thread.js";
import type { SnapshotStatus } from "./frame.js";

/**
 * Files up to this size are read on the main thread, in a few milliseconds:
 * starting a thread takes longer.
 */
const MAX_SMALL_BYTES = 1 << 20;

interface ReadSnapshotOptions {
  readonly disk: Disk;
  readonly thread: SnapshotThread;
  readonly path: string;
  readonly generation: number;
  readonly poolId: string;
  /** The master key. */
  readonly key: Uint8Array;
}

/** The content of a file. */
export interface ReadSnapshot {
  readonly generation: number;
  /** Undefined: nothing of the file was usable. */
  readonly restored?: {
    readonly status: SnapshotStatus;
    /** The objects of the pool. */
    readonly content: StoreContent;
  };
  /** The open file, to append further frames to; present with `restored`. */
  readonly file?: FrameWriter;
  /** Size of the damaged part of the file. */
  readonly droppedBytes: number;
  /** Why something was dropped, for the log. */
  readonly problem?: string;
  /** Time that the reading took, in milliseconds. */
  readonly readMs: number;
}

/**
 * Reads all valid frames of a file.
 * @throws Error the file cannot be opened or read
 */
export async function readSnapshot(
  options: ReadSnapshotOptions,
): Promise<ReadSnapshot> {
  const startedAt = performance.now();
  const file = await options.disk.open(options.path, "r+");
  let frames: FramesRead | undefined;
  try {
    frames = await readFrames(file, options);
  } finally {
    if (frames?.file === undefined) await file.close();
  }
  const readMs = performance.now() - startedAt;
  return { ...frames, generation: options.generation, readMs };
}

type FramesRead = Omit<ReadSnapshot, "generation" | "readMs">;

/** The file stays open. */
async function readFrames(
  file: FileHandle,
  options: ReadSnapshotOptions,
): Promise<FramesRead> {
  const { generation, poolId, thread } = options;
  const { size } = await file.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  const unreadable = headProblem(head.subarray(0, bytesRead), generation);
  if (unreadable !== undefined)
    return { droppedBytes: size, problem: `dropped: ${unreadable}` };
  const key = fileKey(options.key, head, poolId);
  const { status, validBytes, frameCount, content } = await restoreFile({
    file,
    bytes: size,
    key,
    thread,
  });
  if (status === undefined) {
    // Without a complete checkpoint the store would show a part of the pool as
    // if it were all of it.
    const problem = "dropped: it is damaged or was encrypted with another key";
    return { droppedBytes: size, problem };
  }
  const droppedBytes = size - validBytes;
  return {
    restored: { status, content },
    file: new FrameWriter(file, await FrameCipher.create(key), {
      bytes: validBytes,
      frames: frameCount,
    }),
    droppedBytes,
    ...(droppedBytes === 0
      ? {}
      : {
          problem: `dropped its last ${droppedBytes} bytes, which are damaged`,
        }),
  };
}

interface RestoreFileOptions {
  readonly file: FileHandle;
  /** Size of the file. */
  readonly bytes: number;
  /** Key of the file. */
  readonly key: Uint8Array;
  readonly thread: SnapshotThread;
}

/**
 * Builds a store from the valid frames of a file.
 * @throws Error the file cannot be read
 */
export async function restoreFile({
  file,
  bytes,
  key,
  thread,
}: RestoreFileOptions): Promise<RestoredStore> {
  if (bytes > MAX_SMALL_BYTES)
    return thread.use(() => thread.restore({ fd: file.fd, key }));
  const content = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(content, 0, bytes, 0);
  const received = content.subarray(0, bytesRead);
  return restoreStore(key, (at, length) => received.subarray(at, at + length));
}
