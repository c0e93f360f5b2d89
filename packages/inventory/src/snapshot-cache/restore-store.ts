import { RevisionCounter } from "../feed/revision-counter.js";
import { PoolStore } from "../store/pool-store.js";
import type { StoreContent } from "../store/store-content.js";
import { HEAD_BYTES } from "./file-head.js";
import type { CompressedRows } from "../store/compressed-rows.js";
import { decodeCompressed, isCompressedIndex } from "./compressed-frame.js";
import {
  decodeFrame,
  type SnapshotFrame,
  type SnapshotStatus,
} from "./frame.js";
import type { ContentSummary } from "./snapshot-copy.js";
import { readFrame, type DecryptedFrame } from "./read-frame.js";

/** What of a file was usable. */
export interface RestoredStore {
  /** The last status in its frames; undefined: no checkpoint is complete. */
  readonly status: SnapshotStatus | undefined;
  /** Size of the valid part of the file: offset behind the last valid frame. */
  readonly validBytes: number;
  /** Number of valid frames. */
  readonly frameCount: number;
  /** The objects as of the last valid frame. */
  readonly content: StoreContent;
  readonly summary: ContentSummary;
}

/**
 * Builds a store from the frames of a file, which are changes in the order in
 * which they were written. Stops at the first frame that is incomplete or cannot
 * be decrypted; a frame has 1 to 2 MB.
 * @param key of the file (`fileKey`)
 * @param read returns up to `length` bytes of the file, fewer at its end; they
 * are valid until the next call
 * @throws Error the file cannot be read
 */
export function restoreStore(
  key: Uint8Array,
  read: (at: number, length: number) => Buffer,
): RestoredStore {
  const store = new PoolStore({
    poolId: "",
    feed: new RevisionCounter(),
    isMirrored: () => true,
    onChanged: () => undefined,
  });
  let status: SnapshotStatus | undefined;
  let validBytes = HEAD_BYTES;
  let frameCount = 0;
  for (;;) {
    const parts = readFrame(
      { at: validBytes, sequence: frameCount },
      key,
      read,
    );
    const frame = parts && toFrame(parts);
    if (parts === undefined || frame === undefined) break;
    applyAll(store, frame);
    if ("status" in frame) status = frame.status;
    validBytes = parts.end;
    frameCount++;
  }
  const summary = { objects: store.objects, digest: store.digest() };
  return { status, validBytes, frameCount, summary, content: store.content };
}

/** Undefined when the index has another form, as nothing that this version wrote has. */
function toFrame({
  index,
  records,
}: DecryptedFrame): SnapshotFrame | CompressedRows | undefined {
  try {
    return isCompressedIndex(index)
      ? decodeCompressed(index, records)
      : decodeFrame(index, records);
  } catch {
    return undefined;
  }
}

/** In one step: the thread has nothing else to do, and on the main thread files are small. */
function applyAll(
  store: PoolStore,
  frame: SnapshotFrame | CompressedRows,
): void {
  const steps =
    "batch" in frame ? store.restore(frame.batch) : store.restoreRows(frame);
  while (steps.next().done !== true);
}
