import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** Failed sign-ins that all servers count together. */
export const signInAttempts: SchemaMigration = {
  isAdditive: true,
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
