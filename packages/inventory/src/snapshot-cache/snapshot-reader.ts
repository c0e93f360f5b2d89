import type { Disk } from "./disk.js";
import { readCopy, type RestoredCopy } from "./read-copy.js";
import { readSnapshot, type ReadSnapshot } from "./read-snapshot.js";
import type { SnapshotThread } from "./snapshot-thread.js";
import type { Semaphore } from "./semaphore.js";
import type { SnapshotCopy } from "./snapshot-copy.js";
import { SnapshotFolder } from "./snapshot-folder.js";

interface SnapshotReaderOptions {
  readonly directory: string;
  readonly key: Uint8Array;
  readonly disk: Disk;
  /** Reads the files of all pools. */
  readonly thread: SnapshotThread;
  /** Limits how many files are open to be read. */
  readonly semaphore: Semaphore;
}

interface Reading {
  readonly result: Promise<ReadSnapshot | undefined>;
  /** The caller that has taken the snapshot. */
  readonly taker: { signal: AbortSignal | undefined };
}

/** Reads the snapshots of the last run, also before their pools are added. */
export class SnapshotReader {
  readonly #options: SnapshotReaderOptions;
  /** Begun and not taken yet, by pool id. */
  readonly #begun = new Map<string, Reading>();
  #isClosed = false;

  constructor(options: SnapshotReaderOptions) {
    this.#options = options;
  }

  /** Begins to read, in the order of the ids. Each snapshot stays in memory until it is taken. */
  begin(poolIds: readonly string[]): void {
    for (const poolId of poolIds)
      this.#begun.set(poolId, this.#start(poolId, undefined));
    const results = [...this.#begun.values()].map(({ result }) => result);
    // One thread reads all of them. `take` gets the errors.
    void this.keepThread(() => Promise.allSettled(results));
  }

  /**
   * The snapshot of a pool, for the caller alone, who closes its file.
   * @param signal ends the wait for a file that is not being read yet
   * @returns undefined: there is none
   * @throws Error it cannot be read
   */
  take(poolId: string, signal: AbortSignal): Promise<ReadSnapshot | undefined> {
    const reading = this.#begun.get(poolId);
    if (reading === undefined) return this.#start(poolId, signal).result;
    this.#begun.delete(poolId);
    reading.taker.signal = signal;
    return reading.result;
  }

  /** The thread that reads files does not end while `work` runs. */
  keepThread<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.thread.use(work);
  }

  /** See readCopy. */
  async readCopy(poolId: string, copy: SnapshotCopy): Promise<RestoredCopy> {
    const { disk, directory, thread } = this.#options;
    const folder = new SnapshotFolder(disk, directory, poolId);
    const path = folder.newPathOf((await folder.prepare()) + 1);
    return readCopy(copy, { disk, thread, path });
  }

  /** Closes the files that were not taken. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { result } of this.#begun.values()) {
      // What cannot be read or closed is not needed any more.
      const snapshot = await result.catch(() => undefined);
      await snapshot?.file?.close().catch(() => undefined);
    }
    this.#begun.clear();
  }

  #start(poolId: string, signal: AbortSignal | undefined): Reading {
    const taker = { signal };
    const isNeeded = () => !this.#isClosed && taker.signal?.aborted !== true;
    const result = this.#options.semaphore.run(async () =>
      isNeeded() ? this.#read(poolId) : undefined,
    );
    return { taker, result };
  }

  async #read(poolId: string): Promise<ReadSnapshot | undefined> {
    const { disk, directory } = this.#options;
    const folder = new SnapshotFolder(disk, directory, poolId);
    const generation = await folder.prepare();
    if (generation === 0) return undefined;
    const path = folder.pathOf(generation);
    return readSnapshot({ ...this.#options, path, generation, poolId });
  }
}
