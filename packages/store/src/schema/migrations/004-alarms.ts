import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  alarm_rules: {
    columns: {
      id: "text",
      name: "text",
      body_json: "text",
      secret_sealed: "text?",
      created_at: "number",
      updated_at: "number",
    },
  },
  alarms: {
    columns: {
      id: "text",
      rule_id: "text",
      open_key: "text?",
      object_id: "text?",
      began_at: "number",
      ended_at: "number?",
      acknowledged_at: "number?",
      acknowledged_by: "text?",
      body_json: "text",
    },
    references: { rule_id: "alarm_rules" },
    unique: [["open_key"]],
    indexes: [["began_at", "id"], ["rule_id"]],
  },
  alarm_notices: {
    columns: {
      id: "text",
      rule_id: "text",
      target_id: "text",
      body_json: "text",
      attempts: "number",
      next_at: "number?",
      error: "text?",
      created_at: "number",
    },
    references: { rule_id: "alarm_rules" },
    indexes: [["next_at"], ["rule_id"]],
  },
};

/** Alarm rules, alarms, and notifications to be sent. */
export const alarms: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
  },
};
