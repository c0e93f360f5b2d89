import type { Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** A server that leaves hands over its leases and takes none, but runs on. */
export const leavingServers: SchemaMigration = {
  isAdditive: true,
  async up(db: Schema) {
    await db.schema
      .alterTable("cluster_servers")
      .addColumn("leaving_at", "bigint")
      .execute();
  },
};
