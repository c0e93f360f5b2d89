import { sql, type RawBuilder } from "kysely";
import type { Engine } from "./engine.js";
import type { SharedClock } from "./shared-clock.js";

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

/** Sets a clock by that of the database. */
export async function synchronizeClock(
  engine: Pick<Engine, "name" | "reader">,
  clock: SharedClock,
): Promise<void> {
  const from = clock.elapsed;
  const { rows } = await sql<{
    readonly now: number;
  }>`select ${databaseNow(engine)} as now`.execute(engine.reader);
  clock.correct(rows[0]!.now, { from, to: clock.elapsed });
}
