import type { Socket } from "node:net";
import { Kysely, PostgresDialect, sql } from "kysely";
import type { Pool, PoolClient, PoolConfig } from "pg";
import type { Tables } from "../schema/tables.js";
import type { Engine, FailureKind } from "./engine.js";
import { copyTables } from "./postgres-copy.js";
import { KEEP_ALIVE, listenToPostgres } from "./postgres-listener.js";

/** One for the writer, the others for readers. */
const MAX_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
/** A frozen server, whose system answers: its transaction is rolled back after 5 s. */
const IN_TRANSACTION = "set idle_in_transaction_session_timeout = 5000;";
/** The database or the role may have a limit. */
const NO_LIMIT = "set statement_timeout = 0;";
/** The session of a frozen server is ended, and a table that another session has locked is not waited for without end. */
const COPY_TIMEOUTS = `${NO_LIMIT} set idle_in_transaction_session_timeout = 10000;
set idle_session_timeout = 10000;
set lock_timeout = ${QUERY_TIMEOUT_MS};`;
/** Time without a packet from PostgreSQL, after which the system asks whether the connection still exists, in ms: nothing else ends the wait for a long statement. */
const KEEP_ALIVE_DELAY: PoolConfig = { keepAliveInitialDelayMillis: 5_000 };
/** Otherwise the statement of a server that was killed would continue to its end, with its locks. PostgreSQL 14 or newer. */
const CHECK_CONNECTION = sql`select set_config(name, '2s', false) from pg_settings where name = 'client_connection_check_interval'`;
/** PostgreSQL's type id of bigint, which `pg` returns as a string by default. */
const BIGINT_OID = 20;

/** A database shared by several servers. @param url `postgres://user:password@host/database` */
export async function openPostgresEngine(url: string): Promise<Engine> {
  const { default: pg } = await import("pg");
  const types: NonNullable<PoolConfig["types"]> = {
    getTypeParser: ((oid: number, format?: "text") =>
      oid === BIGINT_OID
        ? Number
        : (pg.types.getTypeParser(oid, format) as unknown)) as never,
  };
  const settings: PoolConfig = {
    connectionString: url,
    types,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: "xo-server",
  };
  const pool = new pg.Pool({
    ...settings,
    max: MAX_CONNECTIONS,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: QUERY_TIMEOUT_MS,
  });
  // `pg` removes an idle connection that breaks from its pool; the next query reports an unreachable database.
  pool.on("error", () => undefined);
  // A connection that breaks in use rejects its query and also emits an error, which without a listener would end the process.
  const clients = new Set<PoolClient>();
  pool.on("connect", (client) => {
    client.on("error", () => undefined);
    // Fails only if the connection breaks, which the next query reports.
    client.query(`${KEEP_ALIVE} ${IN_TRANSACTION}`).catch(() => undefined);
    clients.add(client);
  });
  pool.on("remove", (client) => clients.delete(client));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    name: "postgres",
    reader: db,
    writer: db,
    withoutTimeLimits: (use) =>
      useUnlimited(
        new pg.Pool({ ...settings, max: 1, ...KEEP_ALIVE_DELAY }),
        use,
      ),
    classify,
    async copyTo(to, version) {
      // Without the timeouts of statements: tables may be large.
      const client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      });
      client.on("error", () => undefined);
      await client.connect();
      try {
        await client.query(`${KEEP_ALIVE} ${COPY_TIMEOUTS}`);
        await copyTables(client, { to, version });
      } finally {
        await client.end();
      }
    },
    async hasCopy(name) {
      const schemas = await db.introspection.getSchemas();
      return schemas.some((schema) => schema.name === name);
    },
    listen: (channel, handlers) =>
      listenToPostgres(
        {
          connectionString: url,
          connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
          keepAlive: true,
          application_name: "xo-server notices",
        },
        channel,
        handlers,
      ),
    disconnect() {
      for (const client of clients) socketOf(client).destroy();
    },
    close: () => db.destroy(),
  };
}

/** @param pool of one connection, whose statements have no limits then */
async function useUnlimited<T>(
  pool: Pool,
  use: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  // As for the other pool.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    const settings = `${KEEP_ALIVE} ${IN_TRANSACTION} ${NO_LIMIT}`;
    await sql.raw(settings).execute(db);
    await CHECK_CONNECTION.execute(db);
    return await use(db);
  } finally {
    await db.destroy();
  }
}

/** `end` would wait for the other end; the types of `pg` do not declare the socket. */
function socketOf(client: PoolClient): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection
    .stream;
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const KINDS: readonly (readonly [RegExp, FailureKind])[] = [
  [/^23505$/, "duplicate"],
  [/^23503$/, "missing"],
  [/^(40001|40P01|55P03)$/, "conflict"],
  // Connection, insufficient resources, operator intervention, system error; read-only, idle in a transaction
  [/^(08|53|57|58)...$|^25(006|P03)$/, "unavailable"],
  // Authentication failed, no such database
  [/^(28|3D)...$/, "unavailable"],
];

function classify(error: unknown): FailureKind {
  if (!(error instanceof Error)) return "other";
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code))
    return KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? "other";
  // Network errors and errors of `pg` itself have no code of PostgreSQL.
  return typeof code === "string" || PG_DRIVER_MESSAGES.test(error.message)
    ? "unavailable"
    : "other";
}

const PG_DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;
