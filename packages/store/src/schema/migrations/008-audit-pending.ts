import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** Changes under way, whose entry of the audit log follows with their outcome. */
export const auditPending: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await createTable(db, "audit_pending", {
      columns: {
        id: "text",
        owner: "text",
        begun_at: "number",
        entry_json: "text",
      },
      indexes: [["owner", "begun_at"]],
    });
  },
};
