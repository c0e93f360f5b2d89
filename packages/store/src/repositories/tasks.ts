import { XoError } from "@xo-server/model";
import {
  checkName,
  checkPageRows,
  checkText,
  limits,
  toJson,
} from "../schema/limits.js";
import type { TaskRow } from "../schema/tables.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

/** A stored task: its result survives a restart. */
export interface Task {
  readonly id: string;
  /** The server that runs it. */
  readonly owner: string;
  readonly name: string;
  readonly status: "pending" | "success" | "failure" | "interrupted";
  readonly userId?: string;
  readonly objectId?: string;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly endedAt?: number;
  /** Progress, result, warnings, subtasks ...: JSON. */
  readonly body: unknown;
}

export interface TaskPageOptions {
  readonly status?: Task["status"];
  readonly userId?: string;
  readonly objectId?: string;
  /** Only tasks that started at or after this time, in ms since the epoch. */
  readonly since?: number;
  /** Only tasks that started before this time. */
  readonly until?: number;
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

export interface TaskPage {
  /** Newest first. */
  readonly tasks: readonly Task[];
  /** Cursor of the next page; absent on the last page. */
  readonly cursor?: string;
}

/** Tasks, in the database only. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class Tasks {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Inserts or updates a task. @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS, LEASE_LOST */
  async put(task: Task, fence?: Fence): Promise<void> {
    const row = toRow(task);
    await this.#context.committer.run(async (unit) => {
      await checkFence(unit, fence);
      await unit.sql
        .insertInto("tasks")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
    });
  }

  async get(id: string): Promise<Task | undefined> {
    const { engine, availability } = this.#context;
    const row = await availability.run(() =>
      engine.reader
        .selectFrom("tasks")
        .selectAll()
        .where("id", "=", id)
        .executeTakeFirst(),
    );
    return row && toTask(row);
  }

  /** @throws XoError INVALID_PARAMETERS */
  async list(options: TaskPageOptions = {}): Promise<TaskPage> {
    const { engine, availability } = this.#context;
    const { status, userId, objectId, since, until, cursor } = options;
    const limit = checkPageRows(options.limit);
    let query = engine.reader
      .selectFrom("tasks")
      .selectAll()
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(limit);
    if (status !== undefined) query = query.where("status", "=", status);
    if (userId !== undefined) query = query.where("user_id", "=", userId);
    if (objectId !== undefined) query = query.where("object_id", "=", objectId);
    if (since !== undefined) query = query.where("started_at", ">=", since);
    if (until !== undefined) query = query.where("started_at", "<", until);
    if (cursor !== undefined) {
      const { time, id } = parseCursor(cursor);
      query = query.where((e) =>
        e.or([
          e("started_at", "<", time),
          e.and([e("started_at", "=", time), e("id", "<", id)]),
        ]),
      );
    }
    const rows = await availability.run(() => query.execute());
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return {
      tasks: rows.map(toTask),
      ...(last && { cursor: `${last.started_at}/${last.id}` }),
    };
  }

  /** Tasks of a server, ordered by id, up to 1,000 per page. @param after last id of the previous page */
  async listPending(owner: string, after = ""): Promise<Task[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("tasks")
        .selectAll()
        .where("owner", "=", owner)
        .where("status", "=", "pending")
        .where("id", ">", after)
        .orderBy("id")
        .limit(limits.pageRows)
        .execute(),
    );
    return rows.map(toTask);
  }

  /** @throws XoError NO_SUCH_OBJECT */
  async delete(id: string): Promise<void> {
    const rows = await this.#context.committer.run((unit) =>
      unit.sql
        .deleteFrom("tasks")
        .where("id", "=", id)
        .returning("id")
        .execute(),
    );
    if (rows.length === 0)
      throw new XoError("NO_SUCH_OBJECT", { type: "task", id });
  }

  /** Tasks of other servers, latest change first. @param since milliseconds since the epoch */
  async listOfOtherServers(owner: string, since: number): Promise<Task[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("tasks")
        .selectAll()
        .where("updated_at", ">=", since)
        .where("owner", "!=", owner)
        .orderBy("updated_at", "desc")
        .limit(limits.pageRows)
        .execute(),
    );
    return rows.map(toTask);
  }

  /** The existing ones of these ids. @param ids up to 1,000 */
  async whichOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("tasks")
        .select("id")
        .where("id", "in", ids.slice(0, limits.pageRows))
        .execute(),
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** Requests the server that runs a task to abort it. @returns false: it has ended or does not exist */
  async askToAbort(id: string): Promise<boolean> {
    const { committer, clock } = this.#context;
    const rows = await committer.run((unit) =>
      unit.sql
        .updateTable("tasks")
        .set({ abort_asked_at: clock.now() })
        .where("id", "=", id)
        .where("status", "=", "pending")
        .returning("id")
        .execute(),
    );
    return rows.length > 0;
  }

  /** Ids of the tasks of a server with an abort request. */
  async listCancelRequested(owner: string): Promise<string[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("tasks")
        .select("id")
        .where("owner", "=", owner)
        .where("status", "=", "pending")
        .where("abort_asked_at", "is not", null)
        .limit(limits.pageRows)
        .execute(),
    );
    return rows.map(({ id }) => id);
  }

  /** @param userId only tasks of this user. @returns the deleted ids */
  async deleteEnded(userId?: string): Promise<Pick<Task, "id" | "userId">[]> {
    const rows = await this.#context.committer.run((unit) => {
      const ended = unit.sql
        .deleteFrom("tasks")
        .where("status", "!=", "pending");
      const mine =
        userId === undefined ? ended : ended.where("user_id", "=", userId);
      return mine.returning(["id", "user_id"]).execute();
    });
    return rows.map(({ id, user_id }) => ({
      id,
      ...(user_id === null ? {} : { userId: user_id }),
    }));
  }

  /** @param time milliseconds since the epoch. @returns number of deleted rows */
  async deleteEndedBefore(time: number): Promise<number> {
    const rows = await this.#context.committer.run((unit) =>
      unit.sql
        .deleteFrom("tasks")
        .where("ended_at", "<", time)
        .returning("id")
        .execute(),
    );
    return rows.length;
  }
}

function parseCursor(cursor: string): { time: number; id: string } {
  const match = /^(\d{1,15})\/(.+)$/s.exec(cursor);
  if (match === null)
    throw new XoError("INVALID_PARAMETERS", { reason: "invalid cursor" });
  return { time: Number(match[1]), id: checkText("the cursor", match[2]!) };
}

function toRow(task: Task): Omit<TaskRow, "abort_asked_at"> {
  return {
    id: checkName("the task's id", task.id),
    owner: checkName("the owner", task.owner),
    name: checkText("the task's name", task.name),
    status: task.status,
    user_id: task.userId ?? null,
    object_id: task.objectId ?? null,
    started_at: task.startedAt,
    updated_at: task.updatedAt,
    ended_at: task.endedAt ?? null,
    body_json: toJson("the task", task.body),
  };
}

/** A task from its row; NULL becomes a missing member. */
export function toTask(row: TaskRow): Task {
  return {
    id: row.id,
    owner: row.owner,
    name: row.name,
    status: row.status as Task["status"],
    ...(row.user_id === null ? {} : { userId: row.user_id }),
    ...(row.object_id === null ? {} : { objectId: row.object_id }),
    startedAt: row.started_at,
    updatedAt: row.updated_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    body: JSON.parse(row.body_json) as unknown,
  };
}
