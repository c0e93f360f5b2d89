import { join } from "node:path";
import { XoError } from "@xo-server/model";
import type { Clock, Logger } from "@xo-server/xen-api";
import { lockDirectory, type DirectoryLock } from "./directory-lock.js";
import { nodeDisk, type Disk } from "./disk.js";
import { deleteFolder, folderName } from "./pool-folder.js";
import {
  PoolMemory,
  type MemoryParts,
  type RememberedPool,
} from "./pool-memory.js";
import { Turns } from "./turns.js";

/** Pools that read or write at a time: it bounds what waits in memory. */
const AT_A_TIME = 4;
const KEY_BYTES = 32;

export interface MemoryOptions {
  /** Of this process alone while it runs; made if it is not there. */
  readonly directory: string;
  /** 32 bytes: all that is written is encrypted with it. What another key wrote is dropped. */
  readonly key: Uint8Array;
  /** Changes are written so often; default: 5,000. */
  readonly checkpointMs?: number;
  /** A disk that fails is tried again so often; default: 60,000. */
  readonly retryMs?: number;
  /** Ids of the pools there are: what is kept of others goes at the start. Default: nothing goes. */
  readonly keepOnly?: readonly string[];
  /** Default: node:fs/promises. */
  readonly disk?: Disk;
}

export interface MemoryStats {
  /** On disk. */
  readonly bytes: number;
  /** That the last run left behind and that were not as they were written. */
  readonly droppedBytes: number;
  /** The pool that took longest, from its first to its last byte. */
  readonly restoreMs: number;
  /** Of any pool; milliseconds since the epoch. Nothing is written while nothing changes. */
  readonly lastCheckpointAt: number | undefined;
  /** Pools that cannot be written at the moment. */
  readonly failing: number;
}

/** Keeps pools on disk, so that the next run has them at once. */
export class Memory {
  readonly #options: MemoryOptions;
  readonly #parts: MemoryParts;
  readonly #pools = new Map<string, PoolMemory>();
  #lock: DirectoryLock | undefined;

  constructor(options: MemoryOptions, clock: Clock, logger: Logger) {
    const { directory, key, disk = nodeDisk } = options;
    if (key.length !== KEY_BYTES)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `the memory's key has ${key.length} bytes, not ${KEY_BYTES}`,
      });
    this.#options = options;
    this.#parts = {
      directory,
      key,
      disk,
      clock,
      logger,
      checkpointMs: options.checkpointMs ?? 5_000,
      retryMs: options.retryMs ?? 60_000,
      turns: new Turns(AT_A_TIME),
      isOurs: this.#open(disk, logger),
    };
  }

  get stats(): MemoryStats {
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

  openPool(pool: RememberedPool): PoolMemory {
    const memory = new PoolMemory(pool, this.#parts);
    this.#pools.set(pool.poolId, memory);
    return memory;
  }

  /** Stops, and forgets the pool. */
  async deletePool(poolId: string): Promise<void> {
    await this.#pools.get(poolId)?.delete();
    this.#pools.delete(poolId);
  }

  /** The directory is free for others. Pools are to be stopped before. */
  async close(): Promise<void> {
    await this.#parts.isOurs;
    await this.#lock?.release().catch(() => undefined);
    this.#lock = undefined;
  }

  /** Never rejects: without a memory it works as well, only later. */
  async #open(disk: Disk, logger: Logger): Promise<boolean> {
    const { directory } = this.#options;
    const nothing = "nothing is remembered";
    try {
      this.#lock = await lockDirectory(disk, directory);
    } catch (error) {
      const { message } = error as Error;
      logger.warn(`${directory} cannot be used, ${nothing}: ${message}`);
      return false;
    }
    if (this.#lock === undefined) {
      logger.warn(`${directory} belongs to a server that runs: ${nothing}`);
      return false;
    }
    await this.#deleteOthers(disk, logger);
    return true;
  }

  async #deleteOthers(disk: Disk, logger: Logger): Promise<void> {
    const { directory, keepOnly } = this.#options;
    if (keepOnly === undefined) return;
    const kept = new Set(keepOnly.map(folderName));
    try {
      for (const name of await disk.readdir(directory))
        if (!kept.has(name)) await deleteFolder(disk, join(directory, name));
    } catch (error) {
      const { message } = error as Error;
      logger.warn(`${directory}: old folders are still there: ${message}`);
    }
  }
}
