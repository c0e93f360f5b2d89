import type { Migration } from "kysely";
import { createTable, type Schema } from "./create-table.js";

/** How far the audit log was forwarded to each target, and the server that forwards it. */
export const auditForwards: Migration = {
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
