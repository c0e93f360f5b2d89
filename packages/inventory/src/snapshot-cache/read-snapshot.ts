import type { FileHandle } from "node:fs/promises";
import { RevisionCounter } from "../feed/revision-counter.js";
import { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer/slicer.js";
import type { Disk } from "./disk.js";
import { HEAD_BYTES, headProblem } from "./file-head.js";
import { fileKey } from "./file-key.js";
import { FrameCipher } from "./frame-cipher.js";
import { FrameReader } from "./frame-reader.js";
import { withFrames, type FrameSource } from "./frame-source.js";
import type { FrameThread } from "./frame-thread.js";
import { FrameWriter } from "./frame-writer.js";
import type { SnapshotStatus } from "./frame.js";

export interface ReadSnapshotOptions {
  readonly disk: Disk;
  readonly thread: FrameThread;
  readonly path: string;
  readonly generation: number;
  readonly poolId: string;
  readonly key: Uint8Array;
  /** Must be empty. */
  readonly store: PoolStore;
  readonly run: (steps: Steps) => Promise<void>;
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
 * Loads the frames of a file into a store. Frames are changes in the order in
 * which they were written: they are applied to a store of their own, so that
 * readers see only the last state of each object. Stops without a status when
 * `signal` is aborted.
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
  const { generation, poolId, store, run, signal, thread } = options;
  const { size } = await file.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  const unreadable = headProblem(head.subarray(0, bytesRead), generation);
  if (unreadable !== undefined)
    return { droppedBytes: size, problem: `dropped: ${unreadable}` };
  const key = fileKey(options.key, head, poolId);
  const folded = new PoolStore({
    poolId,
    feed: new RevisionCounter(),
    isMirrored: () => true,
    onChanged: () => undefined,
  });
  const { status, validBytes, frameCount } = await withFrames(
    { file, size, key },
    thread,
    (source) => restore(source, folded, options),
  );
  if (signal.aborted) return { droppedBytes: 0 };
  if (status === undefined) {
    // Without a complete checkpoint the store would show a part of the pool as
    // if it were all of it.
    const problem = "dropped: it is damaged or was encrypted with another key";
    return { droppedBytes: size, problem };
  }
  await run(store.adopt(folded));
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

/** What of a file has been applied to a store. */
interface Restored {
  /** The last status in its frames. */
  readonly status: SnapshotStatus | undefined;
  readonly validBytes: number;
  readonly frameCount: number;
}

/** Applies all valid frames. */
async function restore(
  source: FrameSource,
  store: PoolStore,
  { run, signal }: Pick<ReadSnapshotOptions, "run" | "signal">,
): Promise<Restored> {
  const reader = new FrameReader(source);
  let status: SnapshotStatus | undefined;
  for await (const frame of reader.frames()) {
    if (signal.aborted) break;
    status = frame.status ?? status;
    await run(store.restore(frame.batch));
  }
  const { validBytes, frameCount } = reader;
  return { status, validBytes, frameCount };
}
