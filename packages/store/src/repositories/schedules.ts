import { checkName, checkText } from "../schema/limits.js";
import type { ScheduleRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** When a job runs. */
export interface Schedule {
  readonly id: string;
  readonly jobId: string;
  readonly name: string;
  /** Cron pattern. */
  readonly cron: string;
  /** IANA time zone; absent: that of the server. */
  readonly timezone?: string;
  readonly enabled: boolean;
  /** Times at which no server was running: skipped, or the last of them is run late. */
  readonly missed: "skip" | "once";
  /** Older missed times are skipped, in ms. */
  readonly missedLimitMs?: number;
  /** A time at which the job is still running: skipped, or the job runs again afterwards. */
  readonly overlap: "skip" | "queue";
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewSchedule = Pick<Schedule, "jobId" | "cron"> &
  Partial<Omit<Schedule, "id" | "createdAt" | "updatedAt">>;

/** A member that is undefined is removed. */
export type SchedulePatch = {
  readonly [Member in keyof NewSchedule]?: NewSchedule[Member] | undefined;
};

/**
 * Schedules and their marks: the time up to which each has been processed.
 * Marks are in the database only, since every server moves them. Changes throw
 * XoError STORE_UNAVAILABLE while the database is unreachable.
 */
export class Schedules {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#context.tables.schedules.size;
  }

  get(id: string): Schedule | undefined {
    const row = this.#context.tables.schedules.get(id);
    return row && toSchedule(row);
  }

  *list(): IterableIterator<Schedule> {
    for (const row of this.#context.tables.schedules.values())
      yield toSchedule(row);
  }

  ofJob(jobId: string): Schedule[] {
    const rows = this.#context.tables.schedules.withKey("job", jobId);
    return Array.from(rows, toSchedule);
  }

  /**
   * The mark of a new schedule is now: earlier times are not run.
   * @throws XoError NO_SUCH_OBJECT: the job, LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS
   */
  async create(schedule: NewSchedule): Promise<Schedule> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const row: ScheduleRow = {
      id: createId(),
      ...columnsOf(schedule),
      created_at: now,
      updated_at: now,
    };
    await committer.run(async (unit) => {
      await tables.schedules.insert(unit, row);
      await unit.sql
        .insertInto("schedule_marks")
        .values({ id: row.id, done_until: now })
        .execute();
    });
    return toSchedule(row);
  }

  /**
   * Times missed with the previous pattern, or while disabled, are not run.
   * @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS
   */
  async update(id: string, patch: SchedulePatch): Promise<Schedule> {
    const { tables, committer, clock } = this.#context;
    const old = toSchedule(tables.schedules.require(id));
    const now = clock.now();
    const columns = {
      ...columnsOf({ ...old, ...patch } as NewSchedule),
      updated_at: now,
    };
    return committer.run(async (unit) => {
      const row = await tables.schedules.update(unit, id, columns);
      await unit.sql
        .updateTable("schedule_marks")
        .set({ done_until: now })
        .where("id", "=", id)
        .execute();
      return toSchedule(row);
    });
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.schedules.require(id);
    await committer.run((unit) => tables.schedules.remove(unit, id));
  }

  /** The mark of each schedule, in ms since the epoch. An imported schedule starts now. */
  async marks(): Promise<Map<string, number>> {
    const { engine, availability, tables } = this.#context;
    const rows = await availability.run(() =>
      engine.reader.selectFrom("schedule_marks").selectAll().execute(),
    );
    const marks = new Map(rows.map(({ id, done_until }) => [id, done_until]));
    const unmarked = Array.from(tables.schedules.values(), ({ id }) => id);
    const missing = unmarked.filter((id) => !marks.has(id));
    if (missing.length > 0) await this.#begin(missing, marks);
    return marks;
  }

  /**
   * Moves the mark from an expected value.
   * @returns false: another server has moved the mark, or there is no such schedule
   */
  async moveMark(id: string, from: number, to: number): Promise<boolean> {
    const rows = await this.#context.committer.run((unit) =>
      unit.sql
        .updateTable("schedule_marks")
        .set({ done_until: to })
        .where("id", "=", id)
        .where("done_until", "=", from)
        .returning("id")
        .execute(),
    );
    return rows.length > 0;
  }

  async #begin(ids: string[], marks: Map<string, number>): Promise<void> {
    const { committer, clock } = this.#context;
    const now = clock.now();
    const rows = ids.map((id) => ({ id, done_until: now }));
    await committer.run(async (unit) => {
      for (const row of rows)
        // A schedule that was deleted in the meantime has no mark.
        if (await exists(unit, row.id))
          await unit.sql
            .insertInto("schedule_marks")
            .values(row)
            .onConflict((conflict) => conflict.column("id").doNothing())
            .execute();
    });
    for (const { id } of rows) marks.set(id, now);
  }
}

async function exists(
  unit: Parameters<Parameters<RepositoryContext["committer"]["run"]>[0]>[0],
  id: string,
): Promise<boolean> {
  const row = await unit.sql
    .selectFrom("schedules")
    .select("id")
    .where("id", "=", id)
    .executeTakeFirst();
  return row !== undefined;
}

function columnsOf(schedule: NewSchedule) {
  const { timezone, missedLimitMs } = schedule;
  return {
    job_id: checkName("the job's id", schedule.jobId),
    name: checkText("the schedule's name", schedule.name ?? ""),
    cron: checkName("the cron expression", schedule.cron),
    timezone:
      timezone === undefined ? null : checkText("the time zone", timezone),
    enabled: Number(schedule.enabled ?? true),
    missed: schedule.missed ?? "once",
    missed_limit_ms: missedLimitMs ?? null,
    overlap: schedule.overlap ?? "skip",
  };
}

function toSchedule(row: ScheduleRow): Schedule {
  const { timezone, missed_limit_ms } = row;
  return {
    id: row.id,
    jobId: row.job_id,
    name: row.name,
    cron: row.cron,
    ...(timezone === null ? {} : { timezone }),
    enabled: row.enabled === 1,
    missed: row.missed === "skip" ? "skip" : "once",
    ...(missed_limit_ms === null ? {} : { missedLimitMs: missed_limit_ms }),
    overlap: row.overlap === "queue" ? "queue" : "skip",
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
