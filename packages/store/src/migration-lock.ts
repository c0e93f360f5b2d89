import { sql, type Kysely } from "kysely";
import type { Engine } from "./engines/engine.js";
import type { Tables } from "./schema/tables.js";

/** Any number that no other program uses for a lock in this database. */
const LOCK = 709_142_018;

/**
 * Runs migrations while no other server runs them, because reading tables during a
 * migration can fail with missing columns. SQLite has one server.
 * @param run gets the connection that has the lock (PostgreSQL, pg_advisory_lock)
 */
export async function withMigrationLock(
  engine: Engine,
  run: (db: Kysely<Tables>) => Promise<void>,
): Promise<void> {
  if (engine.name === "sqlite") return run(engine.writer);
  await engine.writer.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${LOCK})`.execute(connection);
    try {
      await run(connection);
    } finally {
      await sql`select pg_advisory_unlock(${LOCK})`.execute(connection);
    }
  });
}
