import type { Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** Where servers reach each other, to copy the snapshots of pools. */
export const serverAddresses: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    for (const column of ["address", "fingerprint"])
      await db.schema
        .alterTable("cluster_servers")
        .addColumn(column, "text")
        .execute();
  },
};
