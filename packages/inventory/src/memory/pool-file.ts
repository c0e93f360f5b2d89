import { BatchWriter } from "../store/batch-writer.js";
import type { PoolStore } from "../store/pool-store.js";
import type { Steps } from "../slicer.js";
import type { Disk } from "./disk.js";
import type { MemoryStatus } from "./frame.js";
import { FrameWriter } from "./frame-writer.js";
import { PoolFolder } from "./pool-folder.js";
import { readPool, type PoolReading } from "./pool-reading.js";
import type { Removals } from "./removals.js";
import { measureRows, RowScan } from "./row-scan.js";

/** A file is not written anew before it has so many bytes more than twice its pool's. */
const SPARE_BYTES = 1 << 20;

export interface PoolFileOptions {
  readonly poolId: string;
  readonly store: PoolStore;
  readonly run: (steps: Steps) => Promise<void>;
  readonly directory: string;
  readonly key: Uint8Array;
  readonly disk: Disk;
}

/** The file that a pool is kept in, and the one that takes its place when half of it is of the past. */
export class PoolFile {
  readonly #options: PoolFileOptions;
  readonly #folder: PoolFolder;
  #generation = 0;
  #file: FrameWriter | undefined;
  /** What the pool takes without its past, as found last. */
  #liveBytes = 0;

  constructor(options: PoolFileOptions) {
    const { disk, directory, poolId } = options;
    this.#options = options;
    this.#folder = new PoolFolder(disk, directory, poolId);
  }

  get bytes(): number {
    return this.#file?.bytes ?? 0;
  }

  /** Something was written, or read, that can be gone on with. */
  get isThere(): boolean {
    return this.#file !== undefined;
  }

  /** Fills the store; undefined: there is no file. */
  async read(signal: AbortSignal): Promise<PoolReading | undefined> {
    this.#generation = await this.#folder.prepare();
    if (this.#generation === 0) return undefined;
    const reading = await readPool({
      ...this.#options,
      path: this.#folder.pathOf(this.#generation),
      generation: this.#generation,
      signal,
    });
    this.#file = reading.file;
    return reading;
  }

  /**
   * Writes the objects that changed after revision `since`, and those that went.
   * @returns the revision up to which they are there
   */
  async write(
    since: number,
    removals: Removals,
    status: MemoryStatus,
  ): Promise<number> {
    const file = this.#file;
    const { store } = this.#options;
    if (
      file === undefined ||
      removals.hasOverflown ||
      (await this.#isMostlyPast(file))
    )
      return this.#writeAnew(new RowScan(store, 0, removals), status);
    const scan = new RowScan(store, since, removals);
    try {
      await this.#writeRows(file, scan, status);
    } catch (error) {
      scan.undo();
      throw error;
    }
    return scan.upTo;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  delete(): Promise<void> {
    return this.#folder.delete();
  }

  /** Counting is for when it may be so. */
  async #isMostlyPast({ bytes }: FrameWriter): Promise<boolean> {
    if (bytes <= 2 * this.#liveBytes + SPARE_BYTES) return false;
    const sum = { bytes: 0 };
    await this.#options.run(measureRows(this.#options.store, sum));
    this.#liveBytes = sum.bytes;
    return bytes > 2 * sum.bytes + SPARE_BYTES;
  }

  /** The old file stays until the new one is whole and on the disk. */
  async #writeAnew(scan: RowScan, status: MemoryStatus): Promise<number> {
    const generation = this.#generation + 1;
    let file: FrameWriter | undefined;
    try {
      await this.#folder.prepare();
      const path = this.#folder.newPathOf(generation);
      file = await FrameWriter.create({ ...this.#options, path, generation });
      await this.#writeRows(file, scan, status);
      await file.sync();
      await this.#folder.switchTo(generation);
    } catch (error) {
      scan.undo();
      await file?.close();
      await this.#folder.discardNew(generation);
      throw error;
    }
    const old = this.#file;
    this.#file = file;
    this.#generation = generation;
    this.#liveBytes = file.bytes;
    await old?.close().catch(() => undefined);
    return scan.upTo;
  }

  /** One frame at a time: what waits to be sealed and written is bounded. */
  async #writeRows(
    file: FrameWriter,
    scan: RowScan,
    status: MemoryStatus,
  ): Promise<void> {
    const writer = new BatchWriter();
    do {
      await this.#options.run(scan.fill(writer));
      await file.append(writer.read(), scan.isDone ? status : undefined);
      writer.clear();
    } while (!scan.isDone);
  }
}
