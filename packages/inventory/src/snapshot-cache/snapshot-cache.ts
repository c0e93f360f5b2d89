import { join } from "node:path";
import { XoError } from "@xo-server/model";
import type { Logger, WallClock } from "@xo-server/kit";
import { BatchWriters } from "./batch-writers.js";
import { lockDirectory, type DirectoryLock } from "./directory-lock.js";
import { nodeDisk, type Disk } from "./disk.js";
import { deleteFolder, folderName } from "./snapshot-folder.js";
import { SnapshotThread } from "./snapshot-thread.js";
import {
  PoolSnapshot,
  type SharedOptions,
  type PersistedPool,
} from "./pool-snapshot.js";
import { Semaphore } from "./semaphore.js";
import type { FetchCopy, SnapshotCopy } from "./snapshot-copy.js";
import { SnapshotReader } from "./snapshot-reader.js";

/**
 * Pools that are written at the same time: bounds the memory of frames being
 * processed.
 */
const MAX_WRITTEN = 4;
/**
 * Files that are opened for the thread that reads them: it reads one at a time, and never
 * waits for the main thread to open the next one.
 */
const MAX_OPENED = 16;
/** Copies of other servers that are fetched at the same time. */
const MAX_COPIES = 4;
const KEY_BYTES = 32;

export interface SnapshotCacheOptions {
  /** Locked for this process while it runs; created if it does not exist. */
  readonly directory: string;
  /**
   * 32 bytes. Everything is encrypted with it; files of another key are
   * dropped.
   */
  readonly key: Uint8Array;
  /** Interval between checkpoints in milliseconds; default 5,000. */
  readonly checkpointMs?: number;
  /**
   * Interval between attempts after a write error, in milliseconds; default
   * 60,000.
   */
  readonly retryMs?: number;
  /**
   * Ids of all configured pools: snapshots of other pools are deleted at the
   * start. Default: nothing is deleted.
   */
  readonly retainOnly?: readonly string[];
  /**
   * Ids of pools that are about to be added: their snapshots are read at once.
   * Default: each is read when its pool is added.
   */
  readonly readAhead?: readonly string[];
  /** Called for a pool without a usable snapshot, before it is listed. Default: there is no other server. */
  readonly fetchCopy?: FetchCopy;
  /** Default: node:fs/promises. */
  readonly disk?: Disk;
}

/** Services of the inventory that the snapshot cache uses. */
interface SnapshotCacheServices {
  readonly clock: WallClock;
  readonly logger: Logger;
  /** Pools are being listed: checkpoints wait for them, at most half a minute. */
  readonly isListing: () => boolean;
}

export interface SnapshotCacheStats {
  /** Size of all snapshot files on disk. */
  readonly bytes: number;
  /**
   * Bytes of the files of the last run that were damaged or unreadable and
   * therefore dropped.
   */
  readonly droppedBytes: number;
  /** Duration of the slowest restore, in milliseconds. */
  readonly restoreMs: number;
  /**
   * Time of the last checkpoint of any pool, in milliseconds since the epoch.
   * There is no checkpoint while nothing changes.
   */
  readonly lastCheckpointAt: number | undefined;
  /** Number of pools whose last write failed. */
  readonly failing: number;
}

/**
 * Persists the records of all pools in encrypted files, so that they are
 * available directly after a restart, before the pools answer.
 */
export class SnapshotCache {
  readonly #options: SnapshotCacheOptions;
  readonly #shared: SharedOptions;
  readonly #reader: SnapshotReader;
  /** By pool id. */
  readonly #pools = new Map<string, PoolSnapshot>();
  #lock: DirectoryLock | undefined;

  constructor(options: SnapshotCacheOptions, services: SnapshotCacheServices) {
    const { logger } = services;
    const { directory, key, disk = nodeDisk } = options;
    if (key.length !== KEY_BYTES)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `the key of the snapshot cache has ${key.length} bytes, not ${KEY_BYTES}`,
      });
    this.#options = options;
    const thread = new SnapshotThread();
    const files = { directory, key, disk, thread };
    this.#reader = new SnapshotReader({
      ...files,
      semaphore: new Semaphore(MAX_OPENED),
    });
    this.#shared = {
      ...files,
      ...services,
      semaphore: new Semaphore(MAX_WRITTEN),
      reader: this.#reader,
      ...(options.fetchCopy && { fetchCopy: options.fetchCopy }),
      copies: new Semaphore(MAX_COPIES),
      writers: new BatchWriters(),
      checkpointMs: options.checkpointMs ?? 5_000,
      retryMs: options.retryMs ?? 60_000,
      isLocked: this.#open(disk, logger),
    };
  }

  /** Totals over all pools. */
  get stats(): SnapshotCacheStats {
    const all = [...this.#pools.values()].map(({ stats }) => stats);
    const times = all.flatMap(({ lastCheckpointAt }) => lastCheckpointAt ?? []);
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      droppedBytes: all.reduce((sum, one) => sum + one.droppedBytes, 0),
      restoreMs: Math.max(0, ...all.map(({ restoreMs }) => restoreMs)),
      lastCheckpointAt: times.length === 0 ? undefined : Math.max(...times),
      failing: all.filter(({ isFailing }) => isFailing).length,
    };
  }

  /** Begins the snapshot of a pool; `restore` has to be called next. */
  openPool(pool: PersistedPool): PoolSnapshot {
    const snapshot = new PoolSnapshot(pool, this.#shared);
    this.#pools.set(pool.poolId, snapshot);
    return snapshot;
  }

  /** See PoolSnapshot.openCopy. */
  async openCopy(poolId: string): Promise<SnapshotCopy | undefined> {
    return this.#pools.get(poolId)?.openCopy();
  }

  /** Stops writing and deletes the pool's files. */
  async deletePool(poolId: string): Promise<void> {
    await this.#pools.get(poolId)?.delete();
    this.#pools.delete(poolId);
  }

  /** Releases the directory lock. All pools must have been stopped before. */
  async close(): Promise<void> {
    await this.#shared.isLocked;
    await this.#reader.close();
    // A lock file that stays is recognized as stale when this process has ended.
    await this.#lock?.release().catch(() => undefined);
    this.#lock = undefined;
  }

  /**
   * Locks the directory and deletes snapshots of removed pools. Never rejects:
   * without a snapshot cache the server works as well, it only lists all pools
   * first.
   */
  async #open(disk: Disk, logger: Logger): Promise<boolean> {
    const { directory } = this.#options;
    const consequence = "snapshots are disabled";
    try {
      this.#lock = await lockDirectory(disk, directory);
    } catch (error) {
      const { message } = error as Error;
      logger.warn(`${directory} cannot be used, ${consequence}: ${message}`);
      return false;
    }
    if (this.#lock === undefined) {
      logger.warn(`${directory} is in use by another server: ${consequence}`);
      return false;
    }
    this.#reader.begin(this.#options.readAhead ?? []);
    await this.#deleteOtherFolders(disk, logger);
    return true;
  }

  async #deleteOtherFolders(disk: Disk, logger: Logger): Promise<void> {
    const { directory, retainOnly } = this.#options;
    if (retainOnly === undefined) return;
    const retained = new Set(retainOnly.map(folderName));
    try {
      for (const name of await disk.readdir(directory))
        if (!retained.has(name))
          await deleteFolder(disk, join(directory, name));
    } catch (error) {
      const { message } = error as Error;
      logger.warn(
        `${directory}: snapshots of removed pools could not be deleted: ${message}`,
      );
    }
  }
}
