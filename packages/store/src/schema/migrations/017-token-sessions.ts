import type { Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** How the owner of a token had signed in, and after which time without use a session ends. */
export const tokenSessions: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await db.schema
      .alterTable("tokens")
      .addColumn("proof", "text", (column) => column.notNull().defaultTo(""))
      .execute();
    await db.schema
      .alterTable("tokens")
      .addColumn("idle_ms", "bigint")
      .execute();
  },
};
