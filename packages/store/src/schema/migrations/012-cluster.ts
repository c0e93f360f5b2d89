import { createTable, type Schema, type TableSpec } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

const tables: Readonly<Record<string, TableSpec>> = {
  cluster_servers: {
    columns: {
      id: "text",
      instance: "text",
      origin: "text",
      url: "text",
      version: "text",
      started_at: "number",
      seen_at: "number",
    },
  },
  leases: {
    columns: {
      id: "text",
      owner: "text",
      instance: "text",
      epoch: "number",
      requested_by: "text?",
      taken_at: "number",
      expires_at: "number",
    },
    indexes: [["instance"]],
  },
};

/** The servers that share the database, and which of them owns what. */
export const cluster: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const [name, spec] of Object.entries(tables))
      await createTable(db, name, spec);
  },
};
