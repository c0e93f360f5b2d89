import type { Migration } from "kysely";
import type { Schema } from "./create-table.js";

/** A server that leaves hands over its leases and takes none, but runs on. */
export const leavingServers: Migration = {
  async up(db: Schema) {
    await db.schema
      .alterTable("cluster_servers")
      .addColumn("leaving_at", "bigint")
      .execute();
  },
};
