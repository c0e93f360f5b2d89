import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { TaskListener } from "./task-changes.js";
import { toView } from "./task-view.js";

interface OtherServerTasksOptions {
  readonly store: Pick<Store["tasks"], "listOfOtherServers" | "whichOf">;
  readonly owner: string;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  readonly notify: TaskListener;
}

/** Interval of the checks, in ms. */
const POLL_MS = 1_000;
/** Maximum difference between the clocks of servers, in ms. */
const SKEW_MS = 10_000;
/** Number of pending tasks whose end or deletion is watched for. */
const MAX_KNOWN = 1_000;

interface Known {
  readonly updatedAt: number;
  readonly userId: string | undefined;
}

/** Reports changes of tasks of other servers on the same database, while there are listeners. */
export class OtherServerTasks {
  readonly #options: OtherServerTasksOptions;
  readonly #known = new Map<string, Known>();
  #since: number;
  #timer: unknown;

  constructor(options: OtherServerTasksOptions) {
    this.#options = options;
    this.#since = options.clock.now() - SKEW_MS;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#since = this.#options.clock.now() - SKEW_MS;
    this.#schedulePoll();
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#known.clear();
  }

  #schedulePoll(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      void this.#poll().finally(() => {
        if (this.#timer !== undefined) this.#schedulePoll();
      });
    }, POLL_MS);
  }

  async #poll(): Promise<void> {
    const { store, owner, clock, logger } = this.#options;
    const since = clock.now() - SKEW_MS;
    try {
      for (const task of await store.listOfOtherServers(owner, this.#since))
        this.#onTask(task.id, task.updatedAt, {
          kind: "update",
          userId: task.userId,
          task: toView(task),
        });
      this.#since = since;
      await this.#findRemoved();
    } catch (error) {
      // The database reports itself that it is unavailable.
      if (error instanceof XoError && error.code === "STORE_UNAVAILABLE")
        return;
      logger.warn("tasks of other servers could not be read", { error });
    }
  }

  async #findRemoved(): Promise<void> {
    const existing = await this.#options.store.whichOf([...this.#known.keys()]);
    for (const [id, { userId }] of this.#known)
      if (!existing.has(id)) {
        this.#known.delete(id);
        this.#options.notify({ kind: "remove", userId, id });
      }
  }

  #onTask(
    id: string,
    updatedAt: number,
    change: Parameters<TaskListener>[0],
  ): void {
    const { userId } = change;
    if (this.#known.get(id)?.updatedAt === updatedAt) return;
    this.#known.delete(id);
    this.#known.set(id, { updatedAt, userId });
    if (this.#known.size > MAX_KNOWN)
      this.#known.delete(this.#known.keys().next().value!);
    this.#options.notify(change);
  }
}
