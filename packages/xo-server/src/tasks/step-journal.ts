import { wallClock, type WallClock } from "@xo-server/kit";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Store, TaskStep } from "@xo-server/store";
import type { Logger } from "../log/logger.js";

/** Writes the steps of a task that are read again after a restart. */
export interface StepWriter {
  /** The server is stopping. */
  readonly isClosed: boolean;
  /**
   * Resolves when the step is on disk, or could not be written: the task
   * continues without. Never resolves if the server is stopping: what the step
   * announces must not be done, the next start would do it again.
   */
  put(key: string, body: object): Promise<void>;
  /** The same, delayed to share a write with others: at most until the server stops. */
  putSoon(key: string, body: object): Promise<void>;
}

/** For work without a task. */
export const noSteps: StepWriter = {
  isClosed: false,
  put: () => Promise.resolve(),
  putSoon: () => Promise.resolve(),
};

/** Delayed steps are written within this time, in ms. */
const SOON_MS = 200;

export interface StepJournalOptions {
  readonly store: Pick<Store["taskSteps"], "put" | "list" | "deleteOf">;
  readonly clock: Pick<WallClock, "setTimeout">;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Writes the steps of all tasks, one write at a time. Steps that arrive in the
 * meantime share the next write: a hundred at once cost little more than one.
 * Of each step only the newest state is written.
 */
export class StepJournal {
  /** For tasks whose steps are not persisted. */
  static nowhere(): StepJournal {
    const store = {
      put: () => Promise.resolve(),
      list: () => Promise.resolve([]),
      deleteOf: () => Promise.resolve(),
    };
    const logger = { warn: () => undefined };
    return new StepJournal({ store, logger, clock: wallClock });
  }

  readonly #options: StepJournalOptions;
  readonly #waiting = new Map<string, TaskStep>();
  /** Tasks that have steps. */
  readonly #written = new Set<string>();
  /** Writes resolve with whether the steps are on disk. */
  #last: Promise<boolean> = Promise.resolve(true);
  #next: Promise<boolean> | undefined;
  /** Delayed steps. */
  #soon: Promise<boolean> | undefined;
  #tellSoon: ((isWritten: boolean) => void) | undefined;
  #isClosed = false;

  constructor(options: StepJournalOptions) {
    this.#options = options;
  }

  of(taskId: string): StepWriter {
    const isClosed = () => this.#isClosed;
    return {
      get isClosed() {
        return isClosed();
      },
      put: async (key, body) => {
        this.#wait({ taskId, key, body });
        await this.#unlessStopping(this.#flushNow());
      },
      putSoon: async (key, body) => {
        this.#wait({ taskId, key, body });
        await this.#unlessStopping(this.#flushSoon());
      },
    };
  }

  /** All steps of a task by key. */
  async read(taskId: string): Promise<ReadonlyMap<string, unknown>> {
    const steps = new Map<string, unknown>();
    let after: string | undefined;
    do {
      const page = await this.#options.store.list(taskId, after);
      for (const { key, body } of page) steps.set(key, body);
      after = page.at(-1)?.key;
    } while (after !== undefined);
    // They may be those of another server.
    if (steps.size > 0) this.#written.add(taskId);
    return steps;
  }

  /** The task has ended: its steps are deleted. */
  async forget(taskId: string): Promise<void> {
    if (!this.#written.delete(taskId) || this.#isClosed) return;
    for (const [id, step] of this.#waiting)
      if (step.taskId === taskId) this.#waiting.delete(id);
    await this.#last;
    try {
      await this.#options.store.deleteOf(taskId);
    } catch (error) {
      this.#options.logger.warn("steps of a task are left", { taskId, error });
    }
  }

  /**
   * No step is accepted from now on: XAPI tasks under way stay recorded as
   * pending. Resolves when the steps before are written.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    if (this.#waiting.size > 0) await this.#flush();
  }

  async #unlessStopping(writing: Promise<boolean>): Promise<void> {
    const isWritten = await writing;
    if (!isWritten && this.#isClosed) await new Promise<never>(() => undefined);
  }

  #wait(step: TaskStep): void {
    if (this.#isClosed) return;
    this.#written.add(step.taskId);
    this.#waiting.set(`${step.taskId}/${step.key}`, step);
  }

  #flushNow(): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    return (this.#next ??= this.#last = this.#last.then(() => this.#flush()));
  }

  #flushSoon(): Promise<boolean> {
    if (this.#next !== undefined || this.#isClosed) return this.#flushNow();
    this.#soon ??= new Promise((resolve) => {
      this.#tellSoon = resolve;
      this.#options.clock.setTimeout(() => {
        // While the server stops, `close` writes them.
        if (this.#soon !== undefined && !this.#isClosed)
          resolve(this.#flushNow());
      }, SOON_MS);
    });
    return this.#soon;
  }

  async #flush(): Promise<boolean> {
    // Steps of the same turn of the event loop share the write.
    await nextTurn();
    this.#next = undefined;
    const tellSoon = this.#tellSoon;
    this.#soon = this.#tellSoon = undefined;
    const steps = [...this.#waiting.values()];
    this.#waiting.clear();
    const isWritten = await this.#write(steps);
    tellSoon?.(isWritten);
    return isWritten;
  }

  async #write(steps: readonly TaskStep[]): Promise<boolean> {
    try {
      await this.#options.store.put(steps);
      return true;
    } catch (error) {
      this.#options.logger.warn(
        "steps of tasks are not persisted: a restart would not find them",
        { steps: steps.length, error },
      );
      return false;
    }
  }
}
