import { XoError } from "@xo-server/model";
import { TurnLimiter, type TurnLimiterOptions } from "./turn-limiter.js";

/** Bulk tasks of one user that may run at the same time; those of jobs are not counted. */
const MAX_PER_USER = 10;

/** The bulk tasks that run, and their share of the event loop. */
export class BulkRuns {
  readonly turns: TurnLimiter;
  readonly #running = new Map<string, number>();

  constructor(options: TurnLimiterOptions = {}) {
    this.turns = new TurnLimiter(options);
  }

  /**
   * Counts a bulk task of a user.
   * @returns to be called when it has ended; further calls do nothing
   * @throws XoError QUEUE_FULL: the user has too many
   */
  start(userId: string): () => void {
    const running = this.#running.get(userId) ?? 0;
    if (running >= MAX_PER_USER)
      throw new XoError("QUEUE_FULL", {
        what: "bulk tasks of this user",
        size: running,
      });
    this.#running.set(userId, running + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const left = (this.#running.get(userId) ?? 1) - 1;
      if (left === 0) this.#running.delete(userId);
      else this.#running.set(userId, left);
    };
  }
}
