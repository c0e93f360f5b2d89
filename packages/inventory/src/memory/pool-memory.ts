import type { Clock, Logger } from "@xo-server/xen-api";
import type { ClassTable } from "../store/class-table.js";
import type { PoolStore } from "../store/pool-store.js";
import type { MemoryStatus } from "./frame.js";
import { PoolFile, type PoolFileOptions } from "./pool-file.js";
import type { PoolReading } from "./pool-reading.js";
import { Removals } from "./removals.js";
import type { Turns } from "./turns.js";

/** How far a pool is known now. */
export interface Known extends MemoryStatus {
  /** It is not being followed: `asOf` does not move on. */
  readonly isStale: boolean;
}

export interface RememberedPool extends Pick<
  PoolFileOptions,
  "poolId" | "store" | "run"
> {
  readonly label: string;
  readonly store: PoolStore;
  /** Undefined until the pool has been listed once. */
  readonly known: () => Known | undefined;
}

/** What the memories of all pools share. */
export interface MemoryParts extends Pick<
  PoolFileOptions,
  "directory" | "key" | "disk"
> {
  readonly checkpointMs: number;
  readonly retryMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly turns: Turns;
  /** False: there is no memory in this run. */
  readonly isOurs: Promise<boolean>;
}

export interface PoolMemoryStats {
  readonly bytes: number;
  readonly droppedBytes: number;
  readonly isFailing: boolean;
  readonly restoreMs: number;
  readonly lastCheckpointAt: number | undefined;
}

/** When a pool is written and what of it; what happens when that fails. */
export class PoolMemory {
  readonly #pool: RememberedPool;
  readonly #parts: MemoryParts;
  readonly #file: PoolFile;
  readonly #removals = new Removals();
  /** Rows up to this revision are on disk. */
  #upTo = 0;
  #written: MemoryStatus | undefined;
  #droppedBytes = 0;
  #restoreMs = 0;
  #lastCheckpointAt: number | undefined;
  /** Writing failed, and is not tried before. */
  #retryAt: number | undefined;
  #isRestored = false;
  #timer: unknown;
  #working: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  constructor(pool: RememberedPool, parts: MemoryParts) {
    this.#pool = pool;
    this.#parts = parts;
    this.#file = new PoolFile({ ...parts, ...pool });
  }

  get stats(): PoolMemoryStats {
    return {
      bytes: this.#file.bytes,
      droppedBytes: this.#droppedBytes,
      isFailing: this.#retryAt !== undefined,
      restoreMs: this.#restoreMs,
      lastCheckpointAt: this.#lastCheckpointAt,
    };
  }

  /** An object goes. */
  removed(table: ClassTable, row: number): void {
    if (this.#isRestored) this.#removals.add(table.className, table.ref(row));
  }

  /** Brings the last run's objects into the store, then begins to write. Never rejects. */
  async restore(signal: AbortSignal): Promise<MemoryStatus | undefined> {
    const { isOurs, turns } = this.#parts;
    if (!(await isOurs)) return undefined;
    const started = performance.now();
    const reading = await turns.take(() => this.#read(signal));
    this.#isRestored = true;
    this.#upTo = this.#pool.store.revision;
    this.#written = reading?.status;
    this.#droppedBytes = reading?.droppedBytes ?? 0;
    this.#schedule();
    if (reading?.status === undefined) return undefined;
    this.#restoreMs = performance.now() - started;
    this.#sayRestored(reading.status);
    return reading.status;
  }

  /** Writes what is not on disk yet. To be called when `restore` has ended. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  /** Stops, and forgets the pool. */
  async delete(): Promise<void> {
    this.#isRestored = false;
    await this.stop();
    if (!(await this.#parts.isOurs)) return;
    try {
      await this.#file.delete();
    } catch (error) {
      this.#warn("its memory cannot be deleted", error);
    }
  }

  async #stop(): Promise<void> {
    this.#parts.clock.clearTimeout(this.#timer);
    await this.#working;
    // Failing or not: this is the last time.
    if (this.#isRestored) await this.#checkpoint();
    await this.#file.close().catch(() => undefined);
  }

  async #read(signal: AbortSignal): Promise<PoolReading | undefined> {
    if (signal.aborted) return undefined;
    try {
      const reading = await this.#file.read(signal);
      if (reading?.problem !== undefined)
        this.#parts.logger.warn(
          `${this.#pool.label}: memory of the last run: ${reading.problem}`,
        );
      return reading;
    } catch (error) {
      this.#warn("its memory of the last run cannot be read", error);
      return undefined;
    }
  }

  #schedule(): void {
    const { clock, checkpointMs } = this.#parts;
    if (this.#stopped !== undefined) return;
    this.#timer = clock.setTimeout(() => {
      const isPausing = clock.now() < (this.#retryAt ?? 0);
      this.#working = isPausing ? Promise.resolve() : this.#checkpoint();
      void this.#working.then(() => {
        this.#schedule();
      });
    }, checkpointMs);
  }

  /** Never rejects. */
  async #checkpoint(): Promise<void> {
    const { clock, logger, turns } = this.#parts;
    const known = this.#pool.known();
    if (known === undefined || !this.#isDue(known)) return;
    try {
      await turns.take(() => this.#write(known));
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#lastCheckpointAt = clock.now();
    if (this.#retryAt !== undefined)
      logger.info(`${this.#pool.label}: its memory is written again`);
    this.#retryAt = undefined;
  }

  #isDue({ isStale, asOf, classes }: Known): boolean {
    const written = this.#written;
    return (
      !this.#file.isThere ||
      this.#pool.store.revision > this.#upTo ||
      !this.#removals.isEmpty ||
      (isStale && asOf !== written?.asOf) ||
      classes.join() !== written?.classes.join()
    );
  }

  async #write({ asOf, classes }: Known): Promise<void> {
    const status = { asOf, classes };
    this.#upTo = await this.#file.write(this.#upTo, this.#removals, status);
    this.#written = status;
  }

  #failed(error: unknown): void {
    const { clock, retryMs } = this.#parts;
    if (this.#retryAt === undefined)
      this.#warn(
        `its memory cannot be written, tried again every ${retryMs / 1000} s`,
        error,
      );
    this.#retryAt = clock.now() + retryMs;
  }

  #sayRestored({ asOf }: MemoryStatus): void {
    const { label, store } = this.#pool;
    this.#parts.logger.info(
      `${label}: ${store.objects} objects of the last run, as of ${new Date(asOf).toISOString()}, in ${Math.round(this.#restoreMs)} ms`,
    );
  }

  #warn(what: string, error: unknown): void {
    const { message } = error as Error;
    this.#parts.logger.warn(`${this.#pool.label}: ${what}: ${message}`);
  }
}
