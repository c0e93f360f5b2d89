import { sql, type RawBuilder } from "kysely";
import type { Engine } from "./engine.js";

/** Channel of PostgreSQL on which servers notify each other that leases or servers have changed. */
export const CLUSTER_CHANNEL = "xo_cluster";

/**
 * A column of `returning` that notifies all servers when its statement commits,
 * once for all rows. Not for frequent statements: commits with a notice are
 * serialized.
 */
export function clusterNotice({
  name,
}: Pick<Engine, "name">): RawBuilder<unknown> {
  return name === "postgres"
    ? sql`pg_notify(${sql.lit(CLUSTER_CHANNEL)}, '')`
    : sql`null`;
}
