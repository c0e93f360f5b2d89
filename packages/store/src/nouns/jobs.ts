import { checkName, checkText, toJson } from "../limits.js";
import type { JobRow } from "../tables.js";
import type { Parts } from "./parts.js";

/** Something to do at given times. */
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** On whose behalf. */
  readonly userId?: string;
  readonly enabled: boolean;
  /** In the words of cron. */
  readonly schedule?: string;
  readonly timezone?: string;
  /** What to do; JSON. */
  readonly body: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewJob = Omit<Job, "id" | "createdAt" | "updatedAt" | "enabled"> & {
  readonly enabled?: boolean;
};

/** Jobs. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
export class Jobs {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get(id: string): Job | undefined {
    const row = this.#parts.tables.jobs.get(id);
    return row && toJob(row);
  }

  *list(): IterableIterator<Job> {
    for (const row of this.#parts.tables.jobs.values()) yield toJob(row);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create(job: NewJob): Promise<Job> {
    const { tables, committer, clock, createId } = this.#parts;
    const now = clock.now();
    const row: JobRow = {
      id: createId(),
      ...columnsOf(job),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.jobs.insert(unit, row));
    return toJob(row);
  }

  /** @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async update(id: string, patch: Partial<NewJob>): Promise<Job> {
    const { tables, committer, clock } = this.#parts;
    const old = toJob(tables.jobs.require(id));
    const columns = {
      ...columnsOf({ ...old, ...patch }),
      updated_at: clock.now(),
    };
    return committer.run(async (unit) =>
      toJob(await tables.jobs.update(unit, id, columns)),
    );
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#parts;
    tables.jobs.require(id);
    await committer.run((unit) => tables.jobs.remove(unit, id));
  }
}

function columnsOf(job: NewJob) {
  const { userId, schedule, timezone } = job;
  return {
    name: checkText("the job's name", job.name),
    type: checkName("the job's type", job.type),
    user_id: userId ?? null,
    enabled: Number(job.enabled ?? true),
    schedule:
      schedule === undefined ? null : checkText("the schedule", schedule),
    timezone:
      timezone === undefined ? null : checkText("the time zone", timezone),
    body_json: toJson("the job", job.body),
  };
}

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    enabled: row.enabled === 1,
    ...(row.schedule === null ? {} : { schedule: row.schedule }),
    ...(row.timezone === null ? {} : { timezone: row.timezone }),
    body: JSON.parse(row.body_json) as unknown,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
