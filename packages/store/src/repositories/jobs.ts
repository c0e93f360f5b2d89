import { checkName, checkText, toJson } from "../schema/limits.js";
import { sealContext } from "../secrets/sealed-columns.js";
import type { JobRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** A job, run manually or by its schedules. */
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** User in whose name the job runs. */
  readonly userId?: string;
  /** Settings of the job, as JSON without secrets. */
  readonly body: unknown;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export type NewJob = Omit<Job, "id" | "createdAt" | "updatedAt"> & {
  /** Secret part of the body; JSON, stored encrypted, never sent to clients. */
  readonly secret?: unknown;
};

/** Jobs. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Jobs {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get size(): number {
    return this.#context.tables.jobs.size;
  }

  get(id: string): Job | undefined {
    const row = this.#context.tables.jobs.get(id);
    return row && toJob(row);
  }

  *list(): IterableIterator<Job> {
    for (const row of this.#context.tables.jobs.values()) yield toJob(row);
  }

  /** @returns undefined: none. @throws XoError STORE_KEY_WRONG, SECRET_DAMAGED */
  secret(id: string): unknown {
    const { tables, vault } = this.#context;
    const sealed = tables.jobs.get(id)?.secret_sealed ?? null;
    return sealed === null
      ? undefined
      : (JSON.parse(vault.open(sealed, sealContext.job(id))) as unknown);
  }

  /** @throws XoError LIMIT_REACHED, VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async create(job: NewJob): Promise<Job> {
    const { tables, committer, clock, createId } = this.#context;
    const now = clock.now();
    const id = createId();
    const row: JobRow = {
      id,
      ...columnsOf(job),
      secret_sealed: this.#seal(id, job.secret),
      created_at: now,
      updated_at: now,
    };
    await committer.run((unit) => tables.jobs.insert(unit, row));
    return toJob(row);
  }

  /**
   * @param patch `secret: undefined` removes the secret
   * @throws XoError NO_SUCH_OBJECT, VALUE_TOO_LARGE, INVALID_PARAMETERS
   */
  async update(id: string, patch: Partial<NewJob>): Promise<Job> {
    const { tables, committer, clock } = this.#context;
    const old = toJob(tables.jobs.require(id));
    const columns = {
      ...columnsOf({ ...old, ...patch }),
      ...(Object.hasOwn(patch, "secret")
        ? { secret_sealed: this.#seal(id, patch.secret) }
        : {}),
      updated_at: clock.now(),
    };
    return committer.run(async (unit) =>
      toJob(await tables.jobs.update(unit, id, columns)),
    );
  }

  /** Deletes the job and its schedules, not the log of its runs. @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const { tables, committer } = this.#context;
    tables.jobs.require(id);
    await committer.run(async (unit) => {
      await tables.schedules.removeWhere(unit, "job_id", id);
      await tables.jobs.remove(unit, id);
    });
  }

  #seal(id: string, secret: unknown): string | null {
    if (secret === undefined) return null;
    const text = toJson("what is secret of the job", secret);
    return this.#context.vault.seal(text, sealContext.job(id));
  }
}

function columnsOf(job: NewJob) {
  return {
    name: checkText("the job's name", job.name),
    type: checkName("the job's type", job.type),
    user_id: job.userId ?? null,
    body_json: toJson("the job", job.body),
  };
}

function toJob(row: JobRow): Job {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    body: JSON.parse(row.body_json) as unknown,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
