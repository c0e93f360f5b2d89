import { createTable, type Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** No foreign key for the pool: it is an object of XAPI and may be disconnected. */
export const placementRules: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await createTable(db, "placement_rules", {
      columns: {
        id: "text",
        pool_id: "text",
        name: "text",
        body_json: "text",
        created_at: "number",
        updated_at: "number",
      },
      indexes: [["pool_id"]],
    });
  },
};
