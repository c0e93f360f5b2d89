import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { TaskListener } from "./task-changes.js";
import { toView } from "./task-view.js";

export interface ForeignTasksOptions {
  readonly store: Pick<Store["tasks"], "listForeign" | "whichOf">;
  readonly owner: string;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
  readonly tell: TaskListener;
}

/** Interval of the checks, in ms. */
const LOOK_MS = 1_000;
/** Clocks of servers may differ by this, in ms. */
const SKEW_MS = 10_000;
/** Pending tasks, until their end or deletion is seen. */
const MOST_KNOWN = 1_000;

interface Known {
  readonly updatedAt: number;
  readonly userId: string | undefined;
}

/** Reports changes of tasks of other servers on the same database, while there are listeners. */
export class ForeignTasks {
  readonly #options: ForeignTasksOptions;
  readonly #known = new Map<string, Known>();
  #since: number;
  #timer: unknown;

  constructor(options: ForeignTasksOptions) {
    this.#options = options;
    this.#since = options.clock.now() - SKEW_MS;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#since = this.#options.clock.now() - SKEW_MS;
    this.#lookLater();
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#known.clear();
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.setTimeout(() => {
      void this.#look().finally(() => {
        if (this.#timer !== undefined) this.#lookLater();
      });
    }, LOOK_MS);
  }

  async #look(): Promise<void> {
    const { store, owner, clock, logger } = this.#options;
    const since = clock.now() - SKEW_MS;
    try {
      for (const task of await store.listForeign(owner, this.#since))
        this.#hear(task.id, task.updatedAt, {
          kind: "update",
          userId: task.userId,
          task: toView(task),
        });
      this.#since = since;
      await this.#findRemoved();
    } catch (error) {
      logger.warn("tasks of other servers are not known", { error });
    }
  }

  async #findRemoved(): Promise<void> {
    const there = await this.#options.store.whichOf([...this.#known.keys()]);
    for (const [id, { userId }] of this.#known)
      if (!there.has(id)) {
        this.#known.delete(id);
        this.#options.tell({ kind: "remove", userId, id });
      }
  }

  #hear(
    id: string,
    updatedAt: number,
    change: Parameters<TaskListener>[0],
  ): void {
    const { userId } = change;
    if (this.#known.get(id)?.updatedAt === updatedAt) return;
    this.#known.delete(id);
    this.#known.set(id, { updatedAt, userId });
    if (this.#known.size > MOST_KNOWN)
      this.#known.delete(this.#known.keys().next().value!);
    this.#options.tell(change);
  }
}
