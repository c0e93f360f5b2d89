import type { Migration } from "kysely";
import { createTable, type Schema } from "./create-table.js";

/** Changes under way, whose entry of the audit log follows with their outcome. */
export const auditPending: Migration = {
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
