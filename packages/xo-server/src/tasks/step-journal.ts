import { wallClock, type WallClock } from "@xo-server/kit";
import { setImmediate as nextTurn } from "node:timers/promises";
import { XoError } from "@xo-server/model";
import type { Store, TaskStep } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import type { Logger } from "../log/logger.js";
import { isStoreUnavailable } from "../status/store-unavailable.js";

/** Writes the steps of a task that are read again after a restart. */
export interface StepWriter {
  /** Whether the server is stopping, or another one has adopted the task. */
  readonly isClosed: boolean;
  /**
   * Resolves when the step is on disk. If it cannot be written, the task of a
   * single server continues, while one of several servers waits. Never resolves if
   * `isClosed`: the caller must not perform the step that it announces, because
   * the server that continues the task would perform it again.
   */
  put(key: string, body: object): Promise<void>;
  /**
   * Like `put`, but shares a write with other steps. Steps that were not written
   * yet are lost in a crash, but not when the server stops.
   */
  putSoon(key: string, body: object): Promise<void>;
  /** Encrypts a text, so that a step can hold it. */
  sealSecret(text: string): string;
}

/** For work without a task. */
export const noSteps: StepWriter = {
  isClosed: false,
  put: () => Promise.resolve(),
  putSoon: () => Promise.resolve(),
  sealSecret: () => "",
};

/** A step that could not be written is tried again after this time, in ms. */
const RETRY_MS = 200;
/** Delayed steps are written within this time, in ms. */
const SOON_MS = 200;
/** Encrypted secrets of steps that are remembered: one session for each pool. */
const MAX_SEALED = 1_000;
const SECRET_PURPOSE = "steps of tasks";

interface WaitingStep extends TaskStep {
  readonly lease: HeldLease | undefined;
}

export interface StepJournalOptions {
  readonly store: Pick<Store["taskSteps"], "put" | "list" | "deleteOf">;
  readonly seals: Pick<Store["seals"], "seal" | "open">;
  readonly clock: Pick<WallClock, "setTimeout">;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Writes the steps of all tasks, one write at a time. Steps that arrive in the
 * meantime share the next write, because a hundred at once cost little more than
 * one. Of each step only the newest state is written.
 */
export class StepJournal {
  /** A journal that persists nothing. */
  static nowhere(): StepJournal {
    const store = {
      put: () => Promise.resolve(),
      list: () => Promise.resolve([]),
      deleteOf: () => Promise.resolve(),
    };
    const logger = { warn: () => undefined };
    const seals = { seal: () => "", open: () => undefined };
    return new StepJournal({ store, seals, logger, clock: wallClock });
  }

  readonly #options: StepJournalOptions;
  readonly #waiting = new Map<string, WaitingStep>();
  /** By their texts. */
  readonly #sealed = new Map<string, string>();
  /** Tasks that have steps. */
  readonly #written = new Set<string>();
  /** Each write resolves with whether its steps are on disk. */
  #last: Promise<boolean> = Promise.resolve(true);
  #next: Promise<boolean> | undefined;
  /** The write of the delayed steps. */
  #soon: Promise<boolean> | undefined;
  #resolveSoon: ((isWritten: boolean) => void) | undefined;
  #isClosed = false;

  constructor(options: StepJournalOptions) {
    this.#options = options;
  }

  /** @param lease under which the task acts; absent: there is only one server */
  of(taskId: string, lease?: HeldLease): StepWriter {
    const isClosed = () => this.#isClosed || lease?.isLost === true;
    const write = async (
      step: WaitingStep,
      flush: () => Promise<boolean>,
    ): Promise<void> => {
      for (;;) {
        this.#wait(step);
        const isWritten = await flush();
        if (isWritten && lease?.isLost !== true) return;
        if (isClosed()) return never();
        if (lease === undefined) return;
        await new Promise<void>((resolve) =>
          this.#options.clock.setTimeout(resolve, RETRY_MS),
        );
      }
    };
    return {
      get isClosed() {
        return isClosed();
      },
      put: (key, body) =>
        write({ taskId, key, body, lease }, () => this.#flushNow()),
      putSoon: (key, body) =>
        write({ taskId, key, body, lease }, () => this.#flushSoon()),
      sealSecret: (text) => this.#seal(text),
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
    // Another server may have written these steps.
    if (steps.size > 0) this.#written.add(taskId);
    return steps;
  }

  /** @returns undefined: the text was encrypted with a key that no longer exists */
  openSecret(sealed: string): string | undefined {
    return this.#options.seals.open(sealed, SECRET_PURPOSE);
  }

  /** Encrypts a text; steps have few different secrets. */
  #seal(text: string): string {
    let sealed = this.#sealed.get(text);
    if (sealed === undefined) {
      sealed = this.#options.seals.seal(text, SECRET_PURPOSE);
      if (this.#sealed.size >= MAX_SEALED) this.#sealed.clear();
      this.#sealed.set(text, sealed);
    }
    return sealed;
  }

  /** Deletes the steps of a task that has ended. */
  async forget(taskId: string): Promise<void> {
    if (!this.#written.delete(taskId) || this.#isClosed) return;
    for (const [id, step] of this.#waiting)
      if (step.taskId === taskId) this.#waiting.delete(id);
    await this.#last;
    try {
      await this.#options.store.deleteOf(taskId);
    } catch (error) {
      this.#options.logger.warn("steps of a task could not be deleted", {
        taskId,
        error,
      });
    }
  }

  /**
   * Accepts no further steps, so that running XAPI tasks stay recorded as pending.
   * Resolves when all earlier steps are written.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    if (this.#waiting.size > 0) await this.#flush();
  }

  #wait(step: WaitingStep): void {
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
      this.#resolveSoon = resolve;
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
    const resolveSoon = this.#resolveSoon;
    this.#soon = this.#resolveSoon = undefined;
    const steps = [...this.#waiting.values()];
    this.#waiting.clear();
    const isWritten = await this.#write(steps);
    resolveSoon?.(isWritten);
    return isWritten;
  }

  /** @param waits whether their tasks continue only when they are written */
  #warn(error: unknown, steps: number, waits: boolean): void {
    if (waits && isStoreUnavailable(error)) return;
    const message = waits
      ? "steps of tasks could not be persisted: the tasks wait, and it is tried again"
      : "steps of tasks are not persisted: they would be unknown after a restart";
    this.#options.logger.warn(message, { steps, error });
  }

  /** Writes the steps of one lease in one transaction. */
  async #write(steps: readonly WaitingStep[]): Promise<boolean> {
    const leases = new Set(steps.map(({ lease }) => lease));
    const written = await Promise.all(
      Array.from(leases, (lease) =>
        this.#put(
          steps.filter((step) => step.lease === lease),
          lease,
        ),
      ),
    );
    return written.every(Boolean);
  }

  async #put(
    steps: readonly WaitingStep[],
    lease: HeldLease | undefined,
  ): Promise<boolean> {
    try {
      const rows = steps.map(({ taskId, key, body }) => ({
        taskId,
        key,
        body,
      }));
      await this.#options.store.put(rows, lease?.fence);
      return true;
    } catch (error) {
      if (error instanceof XoError && error.code === "LEASE_LOST") return false;
      this.#warn(error, steps.length, lease !== undefined);
      return false;
    }
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
