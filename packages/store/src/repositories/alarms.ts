import { XoError } from "@xo-server/model";
import { checkPageRows, toJson } from "../schema/limits.js";
import type { WriteUnit } from "../commit/write-unit.js";
import type { AlarmRow } from "../schema/tables.js";
import { insertNotices, type NewNotice } from "./alarm-notices.js";
import type { RepositoryContext } from "./repository-context.js";

/** An alarm raised by a rule. */
export interface Alarm {
  readonly id: string;
  readonly ruleId: string;
  /** Subject within the rule: at most one alarm per key is open. Absent: the alarm has ended. */
  readonly key?: string;
  readonly objectId?: string;
  readonly beganAt: number;
  /** Absent: the alarm is open. */
  readonly endedAt?: number;
  readonly acknowledgedAt?: number;
  /** Id of a user. */
  readonly acknowledgedBy?: string;
  /** JSON. */
  readonly body: unknown;
}

export type NewAlarm = Pick<
  Alarm,
  "ruleId" | "objectId" | "beganAt" | "endedAt" | "body"
> & { readonly key: string };

interface AlarmPageOptions {
  readonly isOpen?: boolean;
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
  /** The last alarm of the previous page. */
  readonly after?: Pick<Alarm, "id" | "beganAt">;
}

/** The notifications to send for stored alarms. */
type NoticesFor = (alarms: readonly Alarm[]) => readonly NewNotice[];

/** Rows per statement, limited by the number of parameters of SQLite. */
const ROWS_A_STATEMENT = 100;

/** Alarms, in the database only. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Alarms {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Stores alarms and their notifications in one transaction. Alarms that are
   * already open, raised by this server or another, are left out; so are alarms
   * that ended at once and are already stored.
   * @returns the stored alarms
   */
  raise(
    alarms: readonly NewAlarm[],
    noticesFor: NoticesFor,
  ): Promise<readonly Alarm[]> {
    const { committer, createId } = this.#context;
    const rows = alarms.map((alarm) => toRow(createId(), alarm));
    return committer.run(async (unit) => {
      const raised: Alarm[] = [];
      for (const some of chunks(rows))
        raised.push(...(await insertNew(unit, some)));
      await this.#insertNotices(unit, noticesFor(raised));
      return raised;
    });
  }

  /** Ends open alarms and stores their notifications. @returns the alarms that were open */
  end(
    ids: readonly string[],
    endedAt: number,
    noticesFor: NoticesFor,
  ): Promise<readonly Alarm[]> {
    return this.#context.committer.run(async (unit) => {
      const ended: Alarm[] = [];
      for (const some of chunks(ids)) {
        const rows = await unit.sql
          .updateTable("alarms")
          .set({ open_key: null, ended_at: endedAt })
          .where("id", "in", some)
          .where("ended_at", "is", null)
          .returningAll()
          .execute();
        ended.push(...rows.map(toAlarm));
      }
      await this.#insertNotices(unit, noticesFor(ended));
      return ended;
    });
  }

  /** Stores notifications for alarms that are already stored. */
  async addNotices(notices: readonly NewNotice[]): Promise<void> {
    await this.#context.committer.run((unit) =>
      this.#insertNotices(unit, notices),
    );
  }

  async get(id: string): Promise<Alarm | undefined> {
    const { engine, availability } = this.#context;
    const row = await availability.run(() =>
      engine.reader
        .selectFrom("alarms")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    return row && toAlarm(row);
  }

  /** Newest first. */
  async list(options: AlarmPageOptions = {}): Promise<readonly Alarm[]> {
    const { engine, availability } = this.#context;
    let query = engine.reader
      .selectFrom("alarms")
      .selectAll()
      .orderBy("began_at", "desc")
      .orderBy("id", "desc")
      .limit(checkPageRows(options.limit));
    if (options.isOpen === true) query = query.where("ended_at", "is", null);
    const { after } = options;
    if (after !== undefined)
      query = query.where((e) =>
        e.or([
          e("began_at", "<", after.beganAt),
          e.and([e("began_at", "=", after.beganAt), e("id", "<", after.id)]),
        ]),
      );
    return (await availability.run(() => query.execute())).map(toAlarm);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async acknowledge(id: string, userId: string | undefined): Promise<Alarm> {
    const { committer, clock } = this.#context;
    const row = await committer.run((unit) =>
      unit.sql
        .updateTable("alarms")
        .set({
          acknowledged_at: clock.now(),
          acknowledged_by: userId ?? null,
        })
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirst(),
    );
    if (row === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "alarm", id });
    return toAlarm(row);
  }

  /** Deletes the oldest ended alarms down to a number. @returns number of deleted rows */
  async prune(most: number): Promise<number> {
    return this.#context.committer.run(async (unit) => {
      const edge = await unit.sql
        .selectFrom("alarms")
        .select("began_at")
        .where("ended_at", "is not", null)
        .orderBy("began_at", "desc")
        .offset(most)
        .limit(1)
        .executeTakeFirst();
      if (edge === undefined) return 0;
      const gone = await unit.sql
        .deleteFrom("alarms")
        .where("ended_at", "is not", null)
        .where("began_at", "<=", edge.began_at)
        .returning("id")
        .execute();
      return gone.length;
    });
  }

  async #insertNotices(
    unit: WriteUnit,
    notices: readonly NewNotice[],
  ): Promise<void> {
    for (const some of chunks(notices))
      await insertNotices(unit, some, this.#context);
  }
}

async function insertNew(
  unit: WriteUnit,
  rows: readonly AlarmRow[],
): Promise<readonly Alarm[]> {
  const inserted = await unit.sql
    .insertInto("alarms")
    .values(rows)
    .onConflict((conflict) => conflict.column("open_key").doNothing())
    .returningAll()
    .execute();
  return inserted.map(toAlarm);
}

function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += ROWS_A_STATEMENT)
    yield all.slice(at, at + ROWS_A_STATEMENT);
}

function toRow(id: string, alarm: NewAlarm): AlarmRow {
  const { ruleId, key, endedAt } = alarm;
  return {
    id,
    rule_id: ruleId,
    open_key: `${ruleId}/${key}`,
    object_id: alarm.objectId ?? null,
    began_at: alarm.beganAt,
    ended_at: endedAt ?? null,
    acknowledged_at: null,
    acknowledged_by: null,
    body_json: toJson("the alarm", alarm.body),
  };
}

function toAlarm(row: AlarmRow): Alarm {
  return {
    id: row.id,
    ruleId: row.rule_id,
    ...(row.open_key === null || row.ended_at !== null
      ? {}
      : { key: row.open_key.slice(row.rule_id.length + 1) }),
    ...(row.object_id === null ? {} : { objectId: row.object_id }),
    beganAt: row.began_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    ...(row.acknowledged_at === null
      ? {}
      : { acknowledgedAt: row.acknowledged_at }),
    ...(row.acknowledged_by === null
      ? {}
      : { acknowledgedBy: row.acknowledged_by }),
    body: JSON.parse(row.body_json) as unknown,
  };
}
