import type { BatchWriters } from "./batch-writers.js";
import type { CompressedRows } from "../store/compressed-rows.js";
import type { PoolStore } from "../store/pool-store.js";
import { hasBlocks } from "../store/store-content.js";
import type { Priority, Steps } from "../slicer/slicer.js";
import type { Disk } from "./disk.js";
import { HEAD_BYTES } from "./file-head.js";
import { fileKey } from "./file-key.js";
import type { SnapshotStatus } from "./frame.js";
import { FrameWriter } from "./frame-writer.js";
import { SnapshotFolder } from "./snapshot-folder.js";
import type { ReadSnapshot } from "./read-snapshot.js";
import type { Removals } from "./removals.js";
import { measureRows, RowScan } from "./row-scan.js";
import type { ContentSummary, SnapshotCopy } from "./snapshot-copy.js";
import type { SnapshotReader } from "./snapshot-reader.js";
import type { SnapshotThread } from "./snapshot-thread.js";

/**
 * A file is rewritten when it is larger than twice the live bytes of the pool
 * plus this.
 */
const SPARE_BYTES = 1 << 20;

export interface SnapshotFileOptions {
  readonly poolId: string;
  readonly store: PoolStore;
  readonly run: (steps: Steps, priority?: Priority) => Promise<void>;
  readonly directory: string;
  readonly key: Uint8Array;
  readonly disk: Disk;
  readonly reader: SnapshotReader;
  readonly writers: BatchWriters;
  /** Writes the records of whole pools. */
  readonly thread: SnapshotThread;
}

/** Rows that a thread has compressed. */
interface CompressedPart {
  /** Row of the table that `rows` begins with. */
  readonly first: number;
  readonly rows: CompressedRows;
}

/**
 * The snapshot file of a pool. Changes are appended; when half of the file is
 * obsolete, a new file replaces it.
 */
export class SnapshotFile {
  readonly #options: SnapshotFileOptions;
  readonly #folder: SnapshotFolder;
  #generation = 0;
  #file: FrameWriter | undefined;
  #content: ContentSummary | undefined;
  /** Size that the pool's live records take in a file, as measured last. */
  #liveBytes = 0;

  constructor(options: SnapshotFileOptions) {
    const { disk, directory, poolId } = options;
    this.#options = options;
    this.#folder = new SnapshotFolder(disk, directory, poolId);
  }

  get bytes(): number {
    return this.#file?.bytes ?? 0;
  }

  /** A file is open that the next checkpoint can be appended to. */
  get isOpen(): boolean {
    return this.#file !== undefined;
  }

  /** What the file holds; undefined: not known, because the pool changed while it was written. */
  get content(): ContentSummary | undefined {
    return this.#content;
  }

  /**
   * Loads the file into the store, which must be empty: readers see all objects
   * at once.
   * @returns undefined: there is no file, or `signal` is aborted
   * @throws Error the file cannot be read
   */
  async read(signal: AbortSignal): Promise<ReadSnapshot | undefined> {
    const { reader, poolId, store } = this.#options;
    const snapshot = await reader.take(poolId, signal);
    this.#generation = snapshot?.generation ?? 0;
    this.#file = snapshot?.file;
    if (
      snapshot?.restored !== undefined &&
      hasBlocks(snapshot.restored.content)
    )
      await store.untilReadable();
    if (signal.aborted) return undefined;
    if (snapshot?.restored !== undefined) {
      store.adopt(snapshot.restored.content);
      this.#content = { objects: store.objects, digest: store.digest() };
    }
    return snapshot;
  }

  /**
   * Loads the copy of another server's file into the store, which must be empty.
   * The next checkpoint writes all of it.
   * @throws Error see readCopy; the reason of `signal`
   */
  async readCopy(
    copy: SnapshotCopy,
    signal: AbortSignal,
  ): Promise<SnapshotStatus> {
    const { reader, poolId, store } = this.#options;
    const { status, content } = await reader.readCopy(poolId, copy);
    if (hasBlocks(content)) await store.untilReadable();
    signal.throwIfAborted();
    store.adopt(content);
    return status;
  }

  /**
   * Opens the file as it is now; what is written afterwards is not part of the copy.
   * @returns undefined: there is no file, or its content is not known
   */
  async openCopy(): Promise<SnapshotCopy | undefined> {
    if (this.#file === undefined || this.#content === undefined)
      return undefined;
    const { disk, poolId, key: masterKey } = this.#options;
    const { bytes } = this.#file;
    const file = await disk.open(this.#folder.pathOf(this.#generation), "r");
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      await file.read(head, 0, HEAD_BYTES, 0);
      const key = fileKey(masterKey, head, poolId);
      const body = file.createReadStream({ start: 0, end: bytes - 1 });
      return { ...this.#content, bytes, key, body };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * Writes a checkpoint: the objects that changed after revision `since`, and
   * the removals.
   * @returns the revision up to which the file is complete
   */
  async write(
    since: number,
    removals: Removals,
    status: SnapshotStatus,
  ): Promise<number> {
    const file = this.#file;
    const { store } = this.#options;
    this.#content = undefined;
    if (
      file === undefined ||
      removals.hasOverflowed ||
      (await this.#isMostlyObsolete(file))
    )
      return this.#rewrite(new RowScan(store, 0, removals), status);
    const scan = new RowScan(store, since, removals);
    try {
      await this.#writeRows(file, scan, status);
    } catch (error) {
      scan.rollback();
      throw error;
    }
    this.#content = scan.content;
    return scan.revision;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  delete(): Promise<void> {
    return this.#folder.delete();
  }

  /**
   * Measuring visits all rows, so it runs only when the file is large compared
   * with the last measurement.
   */
  async #isMostlyObsolete({ bytes }: FrameWriter): Promise<boolean> {
    if (bytes <= 2 * this.#liveBytes + SPARE_BYTES) return false;
    const total = { bytes: 0 };
    await this.#options.run(
      measureRows(this.#options.store, total),
      "background",
    );
    this.#liveBytes = total.bytes;
    return bytes > 2 * total.bytes + SPARE_BYTES;
  }

  /**
   * Writes the whole pool to a new file. The old file stays until the new one
   * is complete and synced.
   */
  async #rewrite(scan: RowScan, status: SnapshotStatus): Promise<number> {
    const generation = this.#generation + 1;
    let file: FrameWriter | undefined;
    let compressed: readonly CompressedPart[];
    try {
      await this.#folder.prepare();
      const path = this.#folder.newPathOf(generation);
      file = await FrameWriter.create({ ...this.#options, path, generation });
      compressed = await this.#writeShared(file, scan);
      await this.#writeRows(file, scan, status);
      await file.sync();
      await this.#folder.switchTo(generation);
    } catch (error) {
      scan.rollback();
      await file?.close();
      await this.#folder.discardNew(generation);
      throw error;
    }
    const old = this.#file;
    this.#file = file;
    this.#content = scan.content;
    this.#generation = generation;
    this.#liveBytes = file.bytes;
    // The new file is in use; the old one is deleted anyway.
    await old?.close().catch(() => undefined);
    await this.#useCompressed(compressed);
    return scan.revision;
  }

  /**
   * Has a thread compress and write the records in shared memory: this thread copies their
   * table only, one part at a time.
   */
  async #writeShared(
    file: FrameWriter,
    scan: RowScan,
  ): Promise<readonly CompressedPart[]> {
    const { run, thread } = this.#options;
    await run(scan.findShared(), "background");
    return thread.use(async () => {
      const parts: CompressedPart[] = [];
      for (const part of scan.sharedParts()) {
        await run(part.copy(), "background");
        const rows = await file.appendRows(part.rows!, thread);
        parts.push({ first: part.from, rows });
      }
      return parts;
    });
  }

  /**
   * The store has its records as the file has them, from now on. Not before the file is
   * complete: only the thread can write them again.
   */
  async #useCompressed(parts: readonly CompressedPart[]): Promise<void> {
    const { run, store } = this.#options;
    if (parts.length > 0) await store.untilReadable();
    for (const { first, rows } of parts)
      await run(store.moveRows(rows, first), "background");
  }

  /**
   * One frame at a time: bounds the memory of frames that wait for encryption
   * and disk.
   */
  async #writeRows(
    file: FrameWriter,
    scan: RowScan,
    status: SnapshotStatus,
  ): Promise<void> {
    const { run, writers } = this.#options;
    const writer = writers.take();
    do {
      await run(scan.fill(writer), "background");
      await file.append(writer.read(), scan.isDone ? status : undefined);
      writer.clear();
    } while (!scan.isDone);
    // Not after a failure: the cipher or the disk may still be reading the buffer.
    writers.put(writer);
  }
}
