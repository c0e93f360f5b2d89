import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** How far the audit log was forwarded to each target, and the server that forwards it. */
export const auditForwards: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await createTable(db, "audit_forwards", {
      columns: {
        id: "text",
        owner: "text",
        seq: "number",
        seen_at: "number",
      },
    });
  },
};
