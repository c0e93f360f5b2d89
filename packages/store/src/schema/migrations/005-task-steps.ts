import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** No foreign key to the task: a step may be written before its task. */
export const taskSteps: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await createTable(db, "task_steps", {
      columns: {
        id: "text",
        task_id: "text",
        body_json: "text",
        written_at: "number",
      },
      indexes: [["task_id", "id"], ["written_at"]],
    });
  },
};
