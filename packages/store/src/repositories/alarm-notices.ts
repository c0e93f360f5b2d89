import type { WriteUnit } from "../commit/write-unit.js";
import { checkPageRows, limits, toJson } from "../schema/limits.js";
import type { AlarmNoticeRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A notification of an alarm rule to one of its targets. */
export interface AlarmNotice {
  readonly id: string;
  readonly ruleId: string;
  /** Id of the target in the rule. */
  readonly targetId: string;
  /** JSON. */
  readonly body: unknown;
  /** Number of started attempts. */
  readonly attempts: number;
  /** Absent: no more attempts. */
  readonly nextAt?: number;
  /** Error of the last attempt. */
  readonly error?: string;
  readonly createdAt: number;
}

export type NewNotice = Pick<AlarmNotice, "ruleId" | "targetId" | "body">;

/** Notifications to be sent, or that could not be sent. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class AlarmNotices {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Claims due notifications: for `forMs` no other `claim` returns them.
   */
  claim(limit: number, forMs: number): Promise<readonly AlarmNotice[]> {
    const { committer, clock } = this.#context;
    const now = clock.now();
    return committer.run(async (unit) => {
      const due = await unit.sql
        .selectFrom("alarm_notices")
        .select("id")
        .where("next_at", "<=", now)
        .orderBy("next_at")
        .limit(limit)
        .execute();
      if (due.length === 0) return [];
      const rows = await unit.sql
        .updateTable("alarm_notices")
        .set((e) => ({
          attempts: e("attempts", "+", 1),
          next_at: now + forMs,
        }))
        .where(
          "id",
          "in",
          due.map(({ id }) => id),
        )
        // Another server may have claimed the notification first.
        .where("next_at", "<=", now)
        .returningAll()
        .execute();
      return rows.map(toNotice);
    });
  }

  /**
   * Makes claimed notifications due again that were neither sent nor failed:
   * their process was killed. Only for a process that is the only one that
   * claims.
   */
  async releaseInterrupted(): Promise<void> {
    const { committer, clock } = this.#context;
    await committer.run((unit) =>
      unit.sql
        .updateTable("alarm_notices")
        .set({ next_at: clock.now() })
        .where("attempts", ">", 0)
        .where("error", "is", null)
        .where("next_at", ">", clock.now())
        .execute(),
    );
  }

  /** Call when the notification was sent or is obsolete. */
  async delete(id: string): Promise<void> {
    await this.#context.committer.run((unit) =>
      unit.sql.deleteFrom("alarm_notices").where("id", "=", id).execute(),
    );
  }

  /** @param nextAt null: no more attempts */
  async fail(id: string, error: string, nextAt: number | null): Promise<void> {
    const shortened = error.slice(0, limits.textBytes / 4);
    await this.#context.committer.run((unit) =>
      unit.sql
        .updateTable("alarm_notices")
        .set({ error: toStorable(shortened), next_at: nextAt })
        .where("id", "=", id)
        .execute(),
    );
  }

  /** Time of the next attempt; undefined: none. */
  async nextAt(): Promise<number | undefined> {
    const { engine, availability } = this.#context;
    const row = await availability.run(() =>
      engine.reader
        .selectFrom("alarm_notices")
        .select("next_at")
        .where("next_at", "is not", null)
        .orderBy("next_at")
        .limit(1)
        .executeTakeFirst(),
    );
    return row?.next_at ?? undefined;
  }

  /** Notifications with a failed attempt, newest first. @param ruleId only of this rule */
  async failing(limit: number, ruleId?: string): Promise<AlarmNotice[]> {
    const { engine, availability } = this.#context;
    let query = engine.reader
      .selectFrom("alarm_notices")
      .selectAll()
      .where("error", "is not", null)
      .orderBy("created_at", "desc")
      .limit(checkPageRows(limit));
    if (ruleId !== undefined) query = query.where("rule_id", "=", ruleId);
    const rows = await availability.run(() => query.execute());
    return rows.map(toNotice);
  }

  /** Deletes the oldest, sent or not, down to a number. @returns number of deleted rows */
  async prune(most: number): Promise<number> {
    return this.#context.committer.run(async (unit) => {
      const edge = await unit.sql
        .selectFrom("alarm_notices")
        .select("created_at")
        .orderBy("created_at", "desc")
        .offset(most)
        .limit(1)
        .executeTakeFirst();
      if (edge === undefined) return 0;
      const gone = await unit.sql
        .deleteFrom("alarm_notices")
        .where("created_at", "<=", edge.created_at)
        .returning("id")
        .execute();
      return gone.length;
    });
  }
}

/** @throws XoError VALUE_TOO_LARGE */
export async function insertNotices(
  unit: WriteUnit,
  notices: readonly NewNotice[],
  { clock, createId }: Pick<RepositoryContext, "clock" | "createId">,
): Promise<void> {
  const now = clock.now();
  const rows = notices.map(({ ruleId, targetId, body }) => ({
    id: createId(),
    rule_id: ruleId,
    target_id: targetId,
    body_json: toJson("the message", body),
    attempts: 0,
    next_at: now,
    error: null,
    created_at: now,
  }));
  if (rows.length > 0)
    await unit.sql.insertInto("alarm_notices").values(rows).execute();
}

/** Removes characters that cannot be stored from the answer of a server. */
function toStorable(text: string): string {
  return text.replace(/\0|\p{Surrogate}/gu, "");
}

function toNotice(row: AlarmNoticeRow): AlarmNotice {
  return {
    id: row.id,
    ruleId: row.rule_id,
    targetId: row.target_id,
    body: JSON.parse(row.body_json) as unknown,
    attempts: row.attempts,
    ...(row.next_at === null ? {} : { nextAt: row.next_at }),
    ...(row.error === null ? {} : { error: row.error }),
    createdAt: row.created_at,
  };
}
