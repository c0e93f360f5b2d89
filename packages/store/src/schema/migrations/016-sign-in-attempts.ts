import type { Migration } from "kysely";
import { createTable, type Schema } from "./create-table.js";

/** Failed sign-ins that all servers count together. */
export const signInAttempts: Migration = {
  async up(db: Schema) {
    await createTable(db, "sign_in_attempts", {
      columns: {
        id: "text",
        failures: "number",
        failed_at: "number",
        attempt: "text",
        attempt_until: "number",
        used_at: "number",
      },
      indexes: [["used_at"], ["attempt"]],
    });
  },
};
