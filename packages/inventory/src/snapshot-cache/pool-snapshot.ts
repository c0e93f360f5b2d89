import type { Logger, WallClock } from "@xo-server/kit";
import type { ClassTable } from "../store/class-table.js";
import type { PoolStore } from "../store/pool-store.js";
import type { SnapshotStatus } from "./frame.js";
import { SnapshotFile, type SnapshotFileOptions } from "./snapshot-file.js";
import type { ReadSnapshot } from "./read-snapshot.js";
import { Removals } from "./removals.js";
import type { Semaphore } from "./semaphore.js";
import type { FetchCopy, SnapshotCopy } from "./snapshot-copy.js";

/**
 * A checkpoint waits for listings at most this long: a listing that hangs must
 * not keep all pools from being written.
 */
const MAX_POSTPONE_MS = 30_000;
/** A pool that changes while a checkpoint is written for a copy is written again, with what has changed meanwhile. */
const MAX_COPY_CHECKPOINTS = 3;

/** State of the mirror of a pool now. */
export interface CurrentStatus extends SnapshotStatus {
  /** True while the pool is not watched: `asOf` does not advance. */
  readonly isStale: boolean;
}

export interface PersistedPool extends Pick<
  SnapshotFileOptions,
  "poolId" | "store" | "run"
> {
  readonly label: string;
  readonly store: PoolStore;
  /** Undefined until the pool has been listed completely once. */
  readonly current: () => CurrentStatus | undefined;
}

/** Options and services shared by the snapshots of all pools. */
export interface SharedOptions extends Pick<
  SnapshotFileOptions,
  "directory" | "key" | "disk" | "reader" | "writers" | "thread"
> {
  readonly checkpointMs: number;
  readonly retryMs: number;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly semaphore: Semaphore;
  /** Absent: there is no other server. */
  readonly fetchCopy?: FetchCopy;
  /** Limits how many copies are fetched at a time. */
  readonly copies: Semaphore;
  /** Whether pools are being listed, which has precedence over writing. */
  readonly isListing: () => boolean;
  /**
   * Resolves when the directory is locked; false: snapshots are disabled in
   * this run.
   */
  readonly isLocked: Promise<boolean>;
}

interface PoolSnapshotStats {
  readonly bytes: number;
  readonly droppedBytes: number;
  readonly isFailing: boolean;
  readonly restoreMs: number;
  readonly lastCheckpointAt: number | undefined;
}

/**
 * Decides when a pool is written and which part of it, and retries after errors.
 * All file access of a pool goes through this class, one operation at a time.
 */
export class PoolSnapshot {
  readonly #pool: PersistedPool;
  readonly #shared: SharedOptions;
  readonly #file: SnapshotFile;
  readonly #removals = new Removals();
  /** Changes up to this revision of the store are on disk. */
  #writtenRevision = 0;
  #writtenStatus: SnapshotStatus | undefined;
  #droppedBytes = 0;
  #restoreMs = 0;
  #lastCheckpointAt: number | undefined;
  /**
   * Set after a write error: the next attempt is not before this time
   * (milliseconds, `clock`).
   */
  #retryAt: number | undefined;
  /**
   * Checkpoints are postponed since this time (milliseconds, `clock`);
   * undefined while they are not.
   */
  #postponedSince: number | undefined;
  #isRestored = false;
  #timer: unknown;
  /** Ends with the last operation on the file. Never rejects. */
  #working: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(pool: PersistedPool, parts: SharedOptions) {
    this.#pool = pool;
    this.#shared = parts;
    this.#file = new SnapshotFile({ ...parts, ...pool });
  }

  get stats(): PoolSnapshotStats {
    return {
      bytes: this.#file.bytes,
      droppedBytes: this.#droppedBytes,
      isFailing: this.#retryAt !== undefined,
      restoreMs: this.#restoreMs,
      lastCheckpointAt: this.#lastCheckpointAt,
    };
  }

  /**
   * Notes that the object of a row is about to be removed. Removals before the
   * restore are of no interest.
   */
  noteRemoval(table: ClassTable, row: number): void {
    if (this.#isRestored) this.#removals.add(table.className, table.ref(row));
  }

  /**
   * Loads the objects of the last run into the store, then starts the
   * checkpoints. Never rejects.
   * @returns the state of the snapshot; undefined when there is none
   */
  async restore(signal: AbortSignal): Promise<SnapshotStatus | undefined> {
    if (!(await this.#shared.isLocked)) return undefined;
    const result = await this.#read(signal);
    const status = result?.restored?.status;
    this.#isRestored = true;
    this.#writtenRevision = this.#pool.store.revision;
    this.#writtenStatus = status;
    this.#droppedBytes = result?.droppedBytes ?? 0;
    this.#schedule();
    this.#restoreMs = result?.readMs ?? 0;
    if (status !== undefined) this.#logRestored(status);
    return status;
  }

  /**
   * Loads a copy of another server's snapshot instead, if there is one. Call it when
   * `restore` has found none. Never rejects.
   */
  async restoreCopy(signal: AbortSignal): Promise<SnapshotStatus | undefined> {
    const { isLocked, fetchCopy, copies } = this.#shared;
    if (fetchCopy === undefined || !(await isLocked)) return undefined;
    let status: SnapshotStatus | undefined;
    const load = async (copy: SnapshotCopy) => {
      status = await this.#file.readCopy(copy, signal);
    };
    await this.#shared.reader.keepThread(() =>
      copies.run(async () => {
        if (!signal.aborted) await fetchCopy(this.#pool, load, signal);
      }),
    );
    return status;
  }

  /**
   * Opens the file for another server.
   * @returns undefined: it has no event position from which the copy could be
   * continued, or cannot be written
   * @throws Error the file cannot be opened
   */
  openCopy(): Promise<SnapshotCopy | undefined> {
    return this.#inTurn(async () => {
      for (let i = 0; i < MAX_COPY_CHECKPOINTS; i++) {
        const { position } = this.#pool.current() ?? {};
        if (this.#stopped !== undefined || position === undefined)
          return undefined;
        // The first one in any case: the copy continues from its event position.
        if (i > 0 && this.#file.content !== undefined) break;
        await this.#checkpoint(() => true);
      }
      if (this.#writtenStatus?.position === undefined) return undefined;
      return this.#file.openCopy();
    });
  }

  /**
   * Writes a last checkpoint and closes the file. Call it after `restore` has
   * ended.
   */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  /** Stops and deletes the pool's files. */
  async delete(): Promise<void> {
    this.#isRestored = false;
    await this.stop();
    if (!(await this.#shared.isLocked)) return;
    try {
      await this.#file.delete();
    } catch (error) {
      this.#warn("the snapshot cannot be deleted", error);
    }
  }

  async #stop(): Promise<void> {
    this.#shared.clock.clearTimeout(this.#timer);
    await this.#working;
    // The last attempt: also within the retry interval.
    if (this.#isRestored) await this.#checkpoint();
    // All has been written: an error of close changes nothing.
    await this.#file.close().catch(() => undefined);
  }

  async #read(signal: AbortSignal): Promise<ReadSnapshot | undefined> {
    if (signal.aborted) return undefined;
    try {
      const result = await this.#file.read(signal);
      if (result?.problem !== undefined)
        this.#shared.logger.warn(
          `${this.#pool.label}: snapshot: ${result.problem}`,
        );
      return result;
    } catch (error) {
      this.#warn("the snapshot cannot be read", error);
      return undefined;
    }
  }

  #schedule(): void {
    const { clock, checkpointMs } = this.#shared;
    if (this.#stopped !== undefined) return;
    this.#timer = clock.setTimeout(() => {
      const isPausing =
        clock.now() < (this.#retryAt ?? 0) || this.#isPostponed();
      const written = isPausing
        ? Promise.resolve()
        : this.#inTurn(() => this.#checkpoint());
      void written.then(() => {
        this.#schedule();
      });
    }, checkpointMs);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#working.then(work);
    // The caller gets the error.
    this.#working = result.catch(() => undefined);
    return result;
  }

  /** Encryption and writing would slow down the listings that clients wait for. */
  #isPostponed(): boolean {
    const { clock, isListing } = this.#shared;
    if (!isListing()) {
      this.#postponedSince = undefined;
      return false;
    }
    this.#postponedSince ??= clock.now();
    return clock.now() < this.#postponedSince + MAX_POSTPONE_MS;
  }

  /** Writes the changes, if there are any. Never rejects: errors are logged and retried. */
  async #checkpoint(
    isDue = (current: CurrentStatus) => this.#isDue(current),
  ): Promise<void> {
    const { clock, logger, semaphore } = this.#shared;
    const current = this.#pool.current();
    if (current === undefined || !isDue(current)) return;
    try {
      await semaphore.run(() => this.#write(current));
    } catch (error) {
      this.#onFailure(error);
      return;
    }
    this.#lastCheckpointAt = clock.now();
    if (this.#retryAt !== undefined)
      logger.info(`${this.#pool.label}: the snapshot can be written again`);
    this.#retryAt = undefined;
  }

  /**
   * While the pool is watched, `asOf` advances all the time and is not a reason to
   * write.
   */
  #isDue({ isStale, asOf, classes, position }: CurrentStatus): boolean {
    const written = this.#writtenStatus;
    return (
      !this.#file.isOpen ||
      this.#pool.store.revision > this.#writtenRevision ||
      !this.#removals.isEmpty ||
      (isStale && asOf !== written?.asOf) ||
      // An older token of the same issuer is as good, as nothing has changed.
      (position !== undefined &&
        position.issuer !== written?.position?.issuer) ||
      classes.join() !== written?.classes.join()
    );
  }

  async #write({ asOf, classes, position }: CurrentStatus): Promise<void> {
    const status = { asOf, classes, ...(position && { position }) };
    this.#writtenRevision = await this.#file.write(
      this.#writtenRevision,
      this.#removals,
      status,
    );
    this.#writtenStatus = status;
  }

  #onFailure(error: unknown): void {
    const { clock, retryMs } = this.#shared;
    if (this.#retryAt === undefined)
      this.#warn(
        `the snapshot cannot be written, next attempts every ${retryMs / 1000} s`,
        error,
      );
    this.#retryAt = clock.now() + retryMs;
  }

  #logRestored({ asOf }: SnapshotStatus): void {
    const { label, store } = this.#pool;
    this.#shared.logger.info(
      `${label}: ${store.objects} objects restored from the snapshot, as of ${new Date(asOf).toISOString()}, in ${Math.round(this.#restoreMs)} ms`,
    );
  }

  #warn(what: string, error: unknown): void {
    const { message } = error as Error;
    this.#shared.logger.warn(`${this.#pool.label}: ${what}: ${message}`);
  }
}
