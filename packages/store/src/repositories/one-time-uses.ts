import type { RepositoryContext } from "./repository-context.js";

/**
 * Which single-use secrets were used, so that each is valid once on all servers
 * of the database. All methods throw XoError STORE_UNAVAILABLE while the database
 * is unreachable.
 */
export class OneTimeUses {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Records the use of a secret.
   * @param id random, not the secret itself
   * @param expiresAt when the secret is invalid anyway, in ms since the epoch
   * @returns false: it was used before, here or by another server
   */
  async use(id: string, expiresAt: number): Promise<boolean> {
    const { committer, clock } = this.#context;
    return committer.run(async ({ sql }) => {
      await sql
        .deleteFrom("one_time_uses")
        .where("expires_at", "<=", clock.now())
        .execute();
      const inserted = await sql
        .insertInto("one_time_uses")
        .values({ id, expires_at: expiresAt })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .returning("id")
        .executeTakeFirst();
      return inserted !== undefined;
    });
  }
}
