import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { RunningTask } from "./running-task.js";
import { warnUnlessUnavailable } from "../status/store-unavailable.js";

interface TaskJournalOptions {
  readonly store: Pick<Store["tasks"], "put">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/** Changes of a task are written within this time, in ms. */
const WRITE_MS = 1_000;
/** A failed write is retried after this time, in ms. */
const RETRY_MS = 5_000;
/** The same, while the task waits for it. */
const WAITING_RETRY_MS = 500;
/** Maximum number of ended tasks that could not be written. */
const MAX_UNWRITTEN = 1_000;

/**
 * Writes tasks to the database: when they begin, periodically, and when they
 * end. Tasks that have begun continue if the database is unavailable.
 */
export class TaskJournal {
  readonly #options: TaskJournalOptions;
  /** The last write of each task: writes of one task are sequential. */
  readonly #writes = new Map<RunningTask, Promise<unknown>>();
  readonly #timers = new Map<RunningTask, unknown>();
  readonly #unwritten = new Map<string, RunningTask>();
  #retry: unknown;

  constructor(options: TaskJournalOptions) {
    this.#options = options;
  }

  /** A task that has ended while its end is not in the database yet. */
  unwritten(id: string): RunningTask | undefined {
    return this.#unwritten.get(id);
  }

  writeLater(task: RunningTask): void {
    if (this.#timers.has(task)) return;
    const { clock } = this.#options;
    const timer = clock.setTimeout(() => {
      this.#timers.delete(task);
      void this.write(task);
    }, WRITE_MS);
    this.#timers.set(task, timer);
  }

  /**
   * Writes the state that the task has when the write begins.
   * @returns the error of a failed write; undefined: it is in the database
   */
  write(task: RunningTask): Promise<Error | undefined> {
    const before = this.#writes.get(task) ?? Promise.resolve();
    const write = before.then(() => this.#put(task));
    this.#writes.set(task, write);
    return write;
  }

  /** @returns the error of a failed write; undefined: the end is in the database */
  async writeEnd(task: RunningTask): Promise<Error | undefined> {
    this.#options.clock.clearTimeout(this.#timers.get(task));
    this.#timers.delete(task);
    const problem = await this.write(task);
    this.#writes.delete(task);
    return problem;
  }

  /**
   * Writes the task until it is in the database. A single server does not wait for that: no other one
   * could adopt the task.
   * @returns false: another server has adopted the task
   */
  async writeDurably(task: RunningTask): Promise<boolean> {
    for (;;) {
      const problem = await this.write(task);
      if (problem === undefined || task.lease === undefined) return true;
      if (task.lease.isLost || isLeaseLost(problem)) return false;
      await new Promise<void>((resolve) =>
        this.#options.clock.setTimeout(resolve, WAITING_RETRY_MS),
      );
    }
  }

  /** Another server has adopted the task: nothing about it is written here any more. */
  drop(task: RunningTask): void {
    this.#options.clock.clearTimeout(this.#timers.get(task));
    this.#timers.delete(task);
    this.#writes.delete(task);
  }

  stop(): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#retry);
    for (const timer of this.#timers.values()) clock.clearTimeout(timer);
    this.#timers.clear();
  }

  async #put(task: RunningTask): Promise<Error | undefined> {
    const { store, logger } = this.#options;
    try {
      await store.put(task.toTask(), task.lease?.fence);
      this.#unwritten.delete(task.id);
      return undefined;
    } catch (error) {
      if (isLeaseLost(error)) {
        this.#unwritten.delete(task.id);
        return error as Error;
      }
      warnUnlessUnavailable(
        logger,
        `task ${task.id} could not be persisted`,
        error,
      );
      if (task.node.status !== "pending") this.#keep(task);
      return error as Error;
    }
  }

  #keep(task: RunningTask): void {
    this.#unwritten.set(task.id, task);
    if (this.#unwritten.size > MAX_UNWRITTEN)
      this.#unwritten.delete(this.#unwritten.keys().next().value!);
    this.#retry ??= this.#options.clock.setTimeout(() => {
      this.#retry = undefined;
      for (const one of this.#unwritten.values()) void this.#put(one);
    }, RETRY_MS);
  }
}

function isLeaseLost(error: unknown): boolean {
  return error instanceof XoError && error.code === "LEASE_LOST";
}
