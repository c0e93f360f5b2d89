import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  cloud_configs: {
    columns: {
      id: "text",
      kind: "text",
      name: "text",
      template: "text",
      created_at: "number",
      updated_at: "number",
    },
  },
  resource_sets: {
    columns: {
      id: "text",
      name: "text",
      body_json: "text",
      created_at: "number",
      updated_at: "number",
    },
  },
  plugins: {
    columns: {
      id: "text",
      configuration_sealed: "text?",
      autoload: "number",
      updated_at: "number",
    },
  },
};

export const setsAndPlugins: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
    await db.schema
      .alterTable("tasks")
      .addColumn("abort_asked_at", "bigint")
      .execute();
    // Servers that share the database query recent tasks of the others.
    await db.schema
      .createIndex("tasks_by_updated_at")
      .on("tasks")
      .column("updated_at")
      .execute();
  },
};
