import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  backup_repositories: {
    columns: {
      id: "text",
      name: "text",
      url: "text",
      enabled: "number",
      credentials_sealed: "text",
      options_json: "text",
      state_json: "text",
      created_at: "number",
      updated_at: "number",
    },
  },
  backup_archives: {
    columns: {
      id: "text",
      repository_id: "text",
      vm_id: "text?",
      made_at: "number",
      body_json: "text",
    },
    indexes: [
      ["repository_id", "made_at"],
      ["vm_id", "made_at"],
    ],
  },
};

/** Where backups are stored, and the index of the backups in them. */
export const backupRepositories: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
  },
};
