import { sql } from "kysely";
import type { SignInAttemptRow } from "../schema/cluster-tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** Failed sign-ins with one key: a name, an address, or a name at an address. */
export interface SignInFailures {
  readonly count: number;
  /** Time of the last failure, in ms since the epoch by the clock of the store; 0: none. */
  readonly time: number;
}

/** `begun`: no other attempt with one of the keys begins until this one ends. */
export type AttemptAdmission = "begun" | "refused" | "busy";

export interface AttemptRequest {
  /** Unique for the attempt. */
  readonly id: string;
  readonly keys: readonly string[];
  /** After this time another attempt begins, even if this one has not ended, in ms. */
  readonly forMs: number;
  /** @param failures in the order of the keys */
  readonly mayBegin: (failures: readonly SignInFailures[]) => boolean;
}

/** Keys without an attempt for this time are deleted, in ms: 15 minutes. */
const RETAINED_MS = 15 * 60_000;
const NEVER = { failures: 0, failed_at: 0, attempt: "", attempt_until: 0 };

/**
 * Failed sign-ins, counted by all servers of the database together. An attempt is
 * known to all of them before it is verified, so that attempts at several servers
 * take turns. Keys are stored as codes only: a password typed as a name must not be
 * readable. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable.
 */
export class SignInAttempts {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Returns the values in the order of the keys. */
  async read(keys: readonly string[]): Promise<SignInFailures[]> {
    const { engine, availability } = this.#context;
    const ids = this.#toIds(keys);
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("sign_in_attempts")
        .selectAll()
        .where("id", "in", ids)
        .execute(),
    );
    return toFailures(ids, rows);
  }

  /** Begins an attempt, unless one with the same key is under way (busy) or `mayBegin` refuses it. */
  async begin(attempt: AttemptRequest): Promise<AttemptAdmission> {
    const { committer, clock } = this.#context;
    const ids = this.#toIds(attempt.keys);
    return committer.run(async ({ sql: db, isPostgres }) => {
      const now = clock.now();
      // Locked in one order by all servers.
      const sorted = ids.toSorted();
      await db
        .deleteFrom("sign_in_attempts")
        .where("used_at", "<", now - RETAINED_MS)
        .execute();
      await db
        .insertInto("sign_in_attempts")
        .values(sorted.map((id) => ({ id, ...NEVER, used_at: now })))
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
      const requested = db
        .selectFrom("sign_in_attempts")
        .selectAll()
        .where("id", "in", sorted)
        .orderBy("id");
      // A transaction of SQLite is the only writer from its begin.
      const rows = await (
        isPostgres ? requested.forUpdate() : requested
      ).execute();
      if (rows.some(({ attempt_until: until }) => until > now)) return "busy";
      if (!attempt.mayBegin(toFailures(ids, rows))) return "refused";
      await db
        .updateTable("sign_in_attempts")
        .set({
          attempt: attempt.id,
          attempt_until: now + attempt.forMs,
          used_at: now,
        })
        .where("id", "in", sorted)
        .execute();
      return "begun";
    });
  }

  /** Ends an attempt that has failed: it counts for these keys. @param expireMs failures that are older are not counted */
  async fail(
    id: string,
    keys: readonly string[],
    expireMs: number,
  ): Promise<void> {
    const { committer, clock } = this.#context;
    const ids = this.#toIds(keys).toSorted();
    await committer.run(async ({ sql: db }) => {
      const now = clock.now();
      await db
        .insertInto("sign_in_attempts")
        .values(
          ids.map((one) => ({
            ...NEVER,
            id: one,
            failures: 1,
            failed_at: now,
            used_at: now,
          })),
        )
        .onConflict((conflict) =>
          conflict.column("id").doUpdateSet({
            failures: sql<number>`case when sign_in_attempts.failed_at <= ${now - expireMs} then 1 else sign_in_attempts.failures + 1 end`,
            failed_at: now,
            used_at: now,
          }),
        )
        .execute();
      await release(db, id);
    });
  }

  /** Ends an attempt. @param reset keys whose failures are removed, as it has succeeded */
  async end(id: string, reset: readonly string[] = []): Promise<void> {
    const ids = this.#toIds(reset).toSorted();
    await this.#context.committer.run(async ({ sql: db }) => {
      if (ids.length > 0)
        await db
          .updateTable("sign_in_attempts")
          .set({ failures: 0, failed_at: 0 })
          .where("id", "in", ids)
          .execute();
      await release(db, id);
    });
  }

  #toIds(keys: readonly string[]): string[] {
    const { vault } = this.#context;
    return keys.map((key) => vault.authenticate("sign-in attempts", key));
  }
}

type Database = Parameters<
  Parameters<RepositoryContext["committer"]["run"]>[0]
>[0]["sql"];

async function release(db: Database, attempt: string): Promise<void> {
  await db
    .updateTable("sign_in_attempts")
    .set({ attempt: "", attempt_until: 0 })
    .where("attempt", "=", attempt)
    .execute();
}

function toFailures(
  ids: readonly string[],
  rows: readonly SignInAttemptRow[],
): SignInFailures[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const { failures = 0, failed_at: time = 0 } = byId.get(id) ?? {};
    return { count: failures, time };
  });
}
