import type { FileHandle } from "node:fs/promises";
import type { PoolStore } from "../store/pool-store.js";
import type { Disk } from "./disk.js";
import { HEAD_BYTES, headProblem } from "./file-head.js";
import { fileKey } from "./file-key.js";
import { FrameCipher } from "./frame-cipher.js";
import { FrameWriter } from "./frame-writer.js";
import { restoreStore, type RestoredStore } from "./restore-store.js";
import type { RestoreThread } from "./restore-thread.js";
import type { SnapshotStatus } from "./frame.js";

/**
 * Files up to this size are read on the main thread, in a few milliseconds:
 * starting a thread takes longer.
 */
const MAX_SMALL_BYTES = 1 << 20;

export interface ReadSnapshotOptions {
  readonly disk: Disk;
  readonly thread: RestoreThread;
  readonly path: string;
  readonly generation: number;
  readonly poolId: string;
  readonly key: Uint8Array;
  /** Must be empty. */
  readonly store: PoolStore;
  readonly signal: AbortSignal;
}

/** Result of reading a file. */
export interface SnapshotContent {
  /** Undefined: nothing of the file was usable; the store is empty. */
  readonly status?: SnapshotStatus;
  /** The open file, to append further frames to. */
  readonly file?: FrameWriter;
  /** Size of the damaged part of the file. */
  readonly droppedBytes: number;
  /** Why something was dropped, for the log. */
  readonly problem?: string;
}

/**
 * Loads the objects of a file into a store: readers see all of them at once.
 * Ends without a status when `signal` is aborted.
 */
export async function readSnapshot(
  options: ReadSnapshotOptions,
): Promise<SnapshotContent> {
  const file = await options.disk.open(options.path, "r+");
  let content: SnapshotContent | undefined;
  try {
    return (content = await readFrames(file, options));
  } finally {
    if (content?.file === undefined) await file.close();
  }
}

/** Reads all valid frames; the file stays open. */
async function readFrames(
  file: FileHandle,
  options: ReadSnapshotOptions,
): Promise<SnapshotContent> {
  const { generation, poolId, store, signal, thread } = options;
  const { size } = await file.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  const unreadable = headProblem(head.subarray(0, bytesRead), generation);
  if (unreadable !== undefined)
    return { droppedBytes: size, problem: `dropped: ${unreadable}` };
  const key = fileKey(options.key, head, poolId);
  const { status, validBytes, frameCount, content } =
    size > MAX_SMALL_BYTES
      ? await thread.use(() => thread.restore({ fd: file.fd, key }))
      : await restoreSmall(file, size, key);
  if (signal.aborted) return { droppedBytes: 0 };
  if (status === undefined) {
    // Without a complete checkpoint the store would show a part of the pool as
    // if it were all of it.
    const problem = "dropped: it is damaged or was encrypted with another key";
    return { droppedBytes: size, problem };
  }
  store.adopt(content);
  const droppedBytes = size - validBytes;
  return {
    status,
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

async function restoreSmall(
  file: FileHandle,
  size: number,
  key: Uint8Array,
): Promise<RestoredStore> {
  const bytes = Buffer.alloc(size);
  await file.read(bytes, 0, size, 0);
  return restoreStore(key, (at, length) => bytes.subarray(at, at + length));
}
