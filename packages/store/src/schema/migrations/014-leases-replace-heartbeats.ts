import type { Schema } from "./create-table.js";
import type { SchemaMigration } from "./schema-migration.js";

/** Heartbeats of single runs and balancers: leases of servers replace them. */
export const leasesReplaceHeartbeats: SchemaMigration = {
  isAdditive: false,
  async up(db: Schema) {
    for (const [table, column] of [
      ["job_runs", "seen_at"],
      ["balancer_watches", "is_moving"],
      ["balancer_watches", "seen_at"],
    ] as const)
      await db.schema.alterTable(table).dropColumn(column).execute();
  },
};
