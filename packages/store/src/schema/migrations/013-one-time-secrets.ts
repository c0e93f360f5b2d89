import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  one_time_uses: {
    columns: { id: "text", expires_at: "number" },
    indexes: [["expires_at"]],
  },
  one_time_calls: {
    columns: {
      id: "text",
      user_id: "text",
      call_sealed: "text",
      expires_at: "number",
    },
    indexes: [["expires_at"]],
  },
};

/** Single-use secrets of clients that any of several servers accepts. */
export const oneTimeSecrets: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
  },
};
