import { XoError } from "@xo-server/model";
import { checkName, limits, toJson } from "../schema/limits.js";
import type { TaskStepRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** What must be known of a pending task after a restart, in small pieces: it is written while the task is under way. */
export interface TaskStep {
  readonly taskId: string;
  /** Within the task. */
  readonly key: string;
  /** JSON. */
  readonly body: unknown;
}

/** A statement takes so many rows. */
const ROWS_A_STATEMENT = 100;

/** Steps of tasks, in the database only. Everything throws XoError STORE_UNAVAILABLE while it is gone. */
export class TaskSteps {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** Writes steps, or their new state, all or none. @param steps each once @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async put(steps: readonly TaskStep[]): Promise<void> {
    const { committer, clock } = this.#context;
    const now = clock.now();
    const rows = steps.map((step) => toRow(step, now));
    if (rows.length === 0) return;
    await committer.run(async (unit) => {
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
   * By key, up to 1,000 at a time.
   * @param after key that the page before ended with
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

  /** All of a task. */
  async deleteOf(taskId: string): Promise<void> {
    await this.#context.committer.run((unit) =>
      unit.sql.deleteFrom("task_steps").where("task_id", "=", taskId).execute(),
    );
  }

  /** Those whose task has ended, or is gone. @param time milliseconds since the epoch: younger ones stay */
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

/** Of a row: unique over all tasks, and in the order of keys within one. */
function toId(taskId: string, key: string): string {
  return `${taskId}/${key}`;
}

function toRow({ taskId, key, body }: TaskStep, now: number): TaskStepRow {
  if (taskId.includes("/"))
    throw new XoError("INVALID_PARAMETERS", { reason: "no id of a task" });
  return {
    id: toId(checkName("the task's id", taskId), checkName("the key", key)),
    task_id: taskId,
    body_json: toJson("a step", body),
    written_at: now,
  };
}
