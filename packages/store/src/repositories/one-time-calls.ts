import { createHash } from "node:crypto";
import { toJson } from "../schema/limits.js";
import { Seals } from "../secrets/seals.js";
import type { RepositoryContext } from "./repository-context.js";

interface OneTimeCall {
  /** Secret of the path. */
  readonly secret: string;
  /** The caller. */
  readonly userId: string;
  /** JSON. */
  readonly call: unknown;
  /** In ms since the epoch. */
  readonly expiresAt: number;
}

/**
 * Calls of operations that offered a one-time path, by the secret of the path, so
 * that any server of the database can serve it. Only a hash of the secret is
 * stored; the call is encrypted. All methods throw XoError STORE_UNAVAILABLE while
 * the database is unreachable.
 */
export class OneTimeCalls {
  readonly #context: RepositoryContext;
  readonly #seals: Seals;

  constructor(context: RepositoryContext) {
    this.#context = context;
    this.#seals = new Seals(context.vault);
  }

  /** @throws XoError VALUE_TOO_LARGE, QUEUE_FULL */
  async put({ secret, userId, call, expiresAt }: OneTimeCall): Promise<void> {
    const { committer, clock } = this.#context;
    const id = hashOf(secret);
    const text = toJson("the call", call);
    const call_sealed = this.#seals.seal(text, purposeOf(id));
    await committer.run(async ({ sql }) => {
      await sql
        .deleteFrom("one_time_calls")
        .where("expires_at", "<=", clock.now())
        .execute();
      await sql
        .insertInto("one_time_calls")
        .values({ id, user_id: userId, call_sealed, expires_at: expiresAt })
        .execute();
    });
  }

  /** Deletes and returns a call: of several servers one gets it. @returns undefined: unknown, taken or expired */
  async take(secret: string): Promise<unknown> {
    const { committer, clock, engine, availability } = this.#context;
    const id = hashOf(secret);
    // A read first: unknown paths, which any client may request, change nothing.
    const known = await availability.run(() =>
      engine.reader
        .selectFrom("one_time_calls")
        .select("id")
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    if (known === undefined) return undefined;
    const row = await committer.run(({ sql }) =>
      sql
        .deleteFrom("one_time_calls")
        .where("id", "=", id)
        .returning(["call_sealed", "expires_at"])
        .executeTakeFirst(),
    );
    if (row === undefined || row.expires_at <= clock.now()) return undefined;
    // Undefined: the key was rotated in the meantime.
    const text = this.#seals.open(row.call_sealed, purposeOf(id));
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  /** Deletes the paths of a user whose sessions end. */
  async deleteOfUser(userId: string): Promise<void> {
    await this.#context.committer.run(({ sql }) =>
      sql.deleteFrom("one_time_calls").where("user_id", "=", userId).execute(),
    );
  }
}

function purposeOf(id: string): string {
  return `call of a one-time path/${id}`;
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
