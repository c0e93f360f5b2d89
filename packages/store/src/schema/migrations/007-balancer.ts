import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  balancer_policies: {
    columns: { id: "text", body_json: "text", updated_at: "number" },
  },
  balancer_watches: {
    columns: {
      id: "text",
      owner: "text",
      is_moving: "number",
      state_json: "text",
      seen_at: "number",
    },
  },
  balancer_runs: {
    columns: {
      id: "text",
      pool_id: "text",
      owner: "text",
      status: "text",
      started_at: "number",
      ended_at: "number?",
      task_id: "text?",
      body_json: "text",
    },
    indexes: [["pool_id", "started_at", "id"]],
  },
};

/** Balancer policies, which server balances a pool, and balancer runs. */
export const balancer: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
  },
};
