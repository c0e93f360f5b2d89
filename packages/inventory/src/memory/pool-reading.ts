import type { FileHandle } from "node:fs/promises";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer.js";
import type { Disk } from "./disk.js";
import { HEAD_BYTES, problemOfHead } from "./file-head.js";
import { FrameCipher } from "./frame-cipher.js";
import { FrameReader } from "./frame-reader.js";
import { FrameWriter } from "./frame-writer.js";
import type { MemoryStatus } from "./frame.js";

export interface PoolReadingOptions {
  readonly disk: Disk;
  readonly path: string;
  readonly generation: number;
  readonly poolId: string;
  readonly key: Uint8Array;
  /** Empty. */
  readonly store: PoolStore;
  readonly run: (steps: Steps) => Promise<void>;
  readonly signal: AbortSignal;
}

/** What came of a file. */
export interface PoolReading {
  /** Undefined: nothing can be trusted, the store is as empty as it was. */
  readonly status?: MemoryStatus;
  /** To go on writing with. */
  readonly file?: FrameWriter;
  /** Of what was not as it was written. */
  readonly droppedBytes: number;
  readonly problem?: string;
}

/** Brings a file's frames into a store. */
export async function readPool(
  options: PoolReadingOptions,
): Promise<PoolReading> {
  const file = await options.disk.open(options.path, "r+");
  let reading: PoolReading | undefined;
  try {
    return (reading = await read(file, options));
  } finally {
    if (reading?.file === undefined) await file.close();
  }
}

async function read(
  file: FileHandle,
  options: PoolReadingOptions,
): Promise<PoolReading> {
  const { generation, key, poolId, store, run, signal } = options;
  const { size } = await file.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
  const unfit = problemOfHead(head.subarray(0, bytesRead), generation);
  if (unfit !== undefined)
    return { droppedBytes: size, problem: `dropped: ${unfit}` };
  const cipher = await FrameCipher.create(key, head, poolId);
  const reader = new FrameReader(file, size, cipher);
  let status: MemoryStatus | undefined;
  for await (const frame of reader.frames()) {
    if (signal.aborted) return { droppedBytes: 0 };
    status = frame.status ?? status;
    await run(store.restore(frame.batch));
  }
  if (status === undefined) {
    // A part of a pool would pass for all of it.
    await run(store.clear());
    const problem = "dropped: it is damaged, or the key is another";
    return { droppedBytes: size, problem };
  }
  const { good, count } = reader;
  const droppedBytes = size - good;
  return {
    status,
    file: new FrameWriter(file, cipher, { bytes: good, frames: count }),
    droppedBytes,
    ...(droppedBytes === 0
      ? {}
      : { problem: `its last ${droppedBytes} bytes are damaged, dropped` }),
  };
}
