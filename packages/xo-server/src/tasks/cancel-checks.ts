import type { WallClock } from "@xo-server/kit";
import type { Logger } from "../log/logger.js";
import { warnUnlessUnavailable } from "../status/store-unavailable.js";
import type { RunningTask } from "./running-task.js";
import type { TaskStore } from "./task-store.js";

/** Interval of reading the cancellations that other servers have requested, in ms. */
const POLL_MS = 1_000;

interface CancelChecksOptions {
  readonly store: Pick<TaskStore, "listCancelRequested">;
  readonly owner: string;
  readonly clock: Pick<WallClock, "setTimeout" | "clearTimeout">;
  readonly logger: Pick<Logger, "warn">;
  /** Tasks of this server, by id. */
  readonly running: ReadonlyMap<string, { readonly task: RunningTask }>;
}

/** Cancels tasks of this server on request of other servers. */
export class CancelChecks {
  readonly #options: CancelChecksOptions;
  #timer: unknown;

  constructor(options: CancelChecksOptions) {
    this.#options = options;
  }

  /** Checks repeatedly, as long as there are tasks. */
  schedule(): void {
    this.#timer ??= this.#options.clock.setTimeout(
      () => void this.#check(),
      POLL_MS,
    );
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    const { store, owner, logger, running } = this.#options;
    try {
      for (const id of await store.listCancelRequested(owner))
        running.get(id)?.task.abort();
    } catch (error) {
      warnUnlessUnavailable(logger, "cancellations could not be read", error);
    }
    this.#timer = undefined;
    if (running.size > 0) this.schedule();
  }
}
