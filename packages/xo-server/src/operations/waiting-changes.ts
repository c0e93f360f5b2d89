import { XoError } from "@xo-server/model";

/** Calls of one user whose begin is not in the database yet. */
const MAX_PER_USER = 500;

/**
 * Changes that wait for the database, by user: while it is slow, one user must not
 * fill the queue in which the changes of all users wait.
 */
export class WaitingChanges {
  readonly #counts = new Map<string, number>();

  /**
   * @returns what `begin` does
   * @throws XoError TOO_MANY_REQUESTS; errors of `begin`
   */
  async run<T>(userId: string, begin: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(userId) ?? 0;
    if (count >= MAX_PER_USER)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: `${count} changes of this user wait for the database`,
      });
    this.#counts.set(userId, count + 1);
    try {
      return await begin();
    } finally {
      const left = this.#counts.get(userId)! - 1;
      if (left === 0) this.#counts.delete(userId);
      else this.#counts.set(userId, left);
    }
  }
}
