import { XoError } from "@xo-server/model";
import { checkName, limits, toJson } from "../schema/limits.js";
import type { TaskStepRow } from "../schema/tables.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

/** State of a pending task that is needed after a restart, in small parts written while the task runs. */
export interface TaskStep {
  readonly taskId: string;
  /** Unique within the task. */
  readonly key: string;
  /** JSON. */
  readonly body: unknown;
}

/** Maximum of rows per statement. */
const ROWS_A_STATEMENT = 100;

/** Steps of tasks, in the database only. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class TaskSteps {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Inserts or updates steps in one transaction. @param steps with unique keys. @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS, LEASE_LOST */
  async put(steps: readonly TaskStep[], fence?: Fence): Promise<void> {
    const { committer, clock } = this.#context;
    const now = clock.now();
    const rows = steps.map((step) => toRow(step, now));
    if (rows.length === 0) return;
    await committer.run(async (unit) => {
      await checkFence(unit, fence);
      for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT)
        await unit.sql
          .insertInto("task_steps")
          .values(rows.slice(at, at + ROWS_A_STATEMENT))
          .onConflict((conflict) =>
            conflict.column("id").doUpdateSet((e) => ({
              body_json: e.ref("excluded.body_json"),
              written_at: e.ref("excluded.written_at"),
            })),
          )
          .execute();
    });
  }

  /**
   * Steps ordered by key, up to 1,000 per page.
   * @param after last key of the previous page
   */
  async list(taskId: string, after = ""): Promise<TaskStep[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader
        .selectFrom("task_steps")
        .selectAll()
        .where("task_id", "=", taskId)
        .where("id", ">", toId(taskId, after))
        .orderBy("id")
        .limit(limits.pageRows)
        .execute(),
    );
    return rows.map((row) => ({
      taskId,
      key: row.id.slice(taskId.length + 1),
      body: JSON.parse(row.body_json) as unknown,
    }));
  }

  /** Deletes all steps of a task. */
  async deleteOf(taskId: string): Promise<void> {
    await this.#context.committer.run((unit) =>
      unit.sql.deleteFrom("task_steps").where("task_id", "=", taskId).execute(),
    );
  }

  /** Deletes old steps whose task has ended or no longer exists. @param time milliseconds since the epoch: newer ones stay */
  async deleteLeftBefore(time: number): Promise<void> {
    await this.#context.committer.run((unit) =>
      unit.sql
        .deleteFrom("task_steps")
        .where("written_at", "<", time)
        .where("task_id", "not in", (from) =>
          from.selectFrom("tasks").select("id").where("status", "=", "pending"),
        )
        .execute(),
    );
  }
}

/** Id of a row: unique over all tasks, ordered by key within a task. */
function toId(taskId: string, key: string): string {
  return `${taskId}/${key}`;
}

function toRow({ taskId, key, body }: TaskStep, now: number): TaskStepRow {
  if (taskId.includes("/"))
    throw new XoError("INVALID_PARAMETERS", { reason: "not the id of a task" });
  return {
    id: toId(checkName("the task's id", taskId), checkName("the key", key)),
    task_id: taskId,
    body_json: toJson("a step", body),
    written_at: now,
  };
}
