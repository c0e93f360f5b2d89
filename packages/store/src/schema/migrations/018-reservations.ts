import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** What servers have reserved of limits that all of them share. */
export const reservations: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await createTable(db, "reservations", {
      columns: {
        id: "text",
        subject: "text",
        holder: "text",
        epoch: "number",
        made_at: "number",
        settled_at: "number?",
        body_json: "text",
      },
      indexes: [["subject"]],
    });
  },
};
