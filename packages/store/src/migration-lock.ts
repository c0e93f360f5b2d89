import { pause, type Logger, type Timers } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import { sql, type Kysely } from "kysely";
import type { Engine } from "./engines/engine.js";
import type { Tables } from "./schema/tables.js";

/** Any number that no other program uses for a lock in this database. */
const LOCK = 709_142_018;
/** Time after which the wait for the lock is logged, and the lock requested again, in ms. */
const LOCK_WAIT_MS = 2_000;
/** Time for which a migration waits for a table that another session has locked, in ms: statements of servers that run wait behind it. */
const TABLE_WAIT_MS = 20_000;
/**
 * PostgreSQL ends the session of a server that has the lock and sends nothing for this time, in ms: it
 * is frozen, and would keep all others from starting. In a transaction a shorter time holds.
 */
const SILENCE_MS = 10_000;
/** Interval of statements while the connection with the lock has no other ones, in ms. */
const SIGN_OF_LIFE_MS = 2_000;
/** Code of PostgreSQL: lock_timeout has ended the wait. */
const LOCK_NOT_AVAILABLE = "55P03";
/** Sessions that PostgreSQL has ended because their servers were frozen: idle, idle in a transaction. */
const ENDED_SESSION = /^(57P05|25P03)$/;
/** What `pg` reports for them if it reads the reason too late. */
const ENDED_CONNECTION =
  /^(Connection terminated|Client has encountered a connection error|Client was closed)|EPIPE|ECONNRESET/;

interface MigrationLockParts {
  readonly engine: Pick<Engine, "name" | "withoutTimeLimits">;
  readonly timers: Timers;
  readonly logger: Pick<Logger, "info">;
}

/**
 * Runs migrations while no other server runs them, because reading tables during a
 * migration can fail with missing columns. SQLite has one server. A server that was frozen
 * meanwhile has lost the lock, and runs them again: another one may have completed them.
 * @param run gets the connection that has the lock (PostgreSQL, pg_advisory_lock)
 */
export async function withMigrationLock(
  parts: MigrationLockParts,
  run: (db: Kysely<Tables>) => Promise<void>,
): Promise<void> {
  const { engine, logger } = parts;
  if (engine.name === "sqlite") return engine.withoutTimeLimits(run);
  try {
    await runLocked(parts, run);
  } catch (error) {
    if (!isSessionEnded(error)) throw error;
    logger.info(
      `PostgreSQL has ended the session of the migration, as after this server was suspended (${(error as Error).message}): trying again`,
    );
    await runLocked(parts, run);
  }
}

async function runLocked(
  { engine, timers, logger }: MigrationLockParts,
  run: (db: Kysely<Tables>) => Promise<void>,
): Promise<void> {
  const locked = async (connection: Kysely<Tables>) => {
    await acquire(connection, logger);
    const signs = signsOfLife(connection, timers);
    try {
      await run(connection);
    } catch (error) {
      throw codeOf(error) === LOCK_NOT_AVAILABLE ? tableLocked(error) : error;
    } finally {
      await signs.stop();
      await sql`select pg_advisory_unlock(${LOCK})`
        .execute(connection)
        // The session was ended, and the lock released with it: the error of the migration is the one to report.
        .catch(() => undefined);
    }
  };
  await engine.withoutTimeLimits((db) => db.connection().execute(locked));
}

/** Waits for as long as another server migrates. */
async function acquire(
  connection: Kysely<Tables>,
  logger: Pick<Logger, "info">,
): Promise<void> {
  await setLockTimeout(connection, LOCK_WAIT_MS);
  await sql`select set_config('idle_session_timeout', ${String(SILENCE_MS)}, false)`.execute(
    connection,
  );
  for (let attempt = 1; ; attempt++)
    try {
      await sql`select pg_advisory_lock(${LOCK})`.execute(connection);
      break;
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === 1)
        logger.info(
          "waiting until another server has checked the schema of the database, or migrated it",
        );
    }
  await setLockTimeout(connection, TABLE_WAIT_MS);
}

async function setLockTimeout(
  connection: Kysely<Tables>,
  ms: number,
): Promise<void> {
  await sql`select set_config('lock_timeout', ${String(ms)}, false)`.execute(
    connection,
  );
}

function tableLocked(cause: unknown): XoError {
  return new XoError(
    "STORE_UNAVAILABLE",
    {
      reason: `not migrated, as another session of the database has locked a table for ${TABLE_WAIT_MS / 1000} s, as a backup of the database does`,
    },
    cause,
  );
}

/** Statements that show that this server is not frozen while it does something else, such as a copy. */
function signsOfLife(connection: Kysely<Tables>, timers: Timers) {
  const stopping = new AbortController();
  const sending = (async () => {
    for (;;) {
      await pause(timers, SIGN_OF_LIFE_MS, stopping.signal);
      if (stopping.signal.aborted) return;
      // Waits for the end of a transaction of the same connection.
      await sql`select 1`.execute(connection);
    }
  })()
    // The next statement of the migration reports that the connection is broken.
    .catch(() => undefined);
  return {
    async stop() {
      stopping.abort();
      await sending;
    },
  };
}

function isSessionEnded(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    ENDED_SESSION.test(codeOf(error)) ||
    ENDED_CONNECTION.test(error.message) ||
    isSessionEnded(error.cause)
  );
}

function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
