import { sql, type RawBuilder } from "kysely";
import type { Engine } from "../engines/engine.js";

/**
 * The time by the clock of the database, in ms since the epoch: the one clock that all
 * servers share. Not that of the transaction's begin.
 */
export function databaseNow({
  name,
}: Pick<Engine, "name">): RawBuilder<number> {
  return name === "postgres"
    ? sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`
    : sql<number>`cast((julianday('now') - 2440587.5) * 86400000 as integer)`;
}
