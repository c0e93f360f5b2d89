import { Kysely, PostgresDialect } from "kysely";
import type { PoolConfig } from "pg";
import type { Tables } from "../schema/tables.js";
import type { Engine, FailureKind } from "./engine.js";

/** One for the writer, the others for readers. */
const MAX_CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
/** PostgreSQL's number for bigint, which `pg` hands out as text unless told otherwise. */
const BIGINT_OID = 20;

/** The database that several servers share. @param url `postgres://user:password@host/database` */
export async function openPostgresEngine(url: string): Promise<Engine> {
  const { default: pg } = await import("pg");
  const types: NonNullable<PoolConfig["types"]> = {
    getTypeParser: ((oid: number, format?: "text") =>
      oid === BIGINT_OID
        ? Number
        : (pg.types.getTypeParser(oid, format) as unknown)) as never,
  };
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    statement_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    application_name: "xo-server",
  });
  // An idle connection that breaks is taken from the pool; the next question tells.
  pool.on("error", () => undefined);
  // One that breaks in use tells twice: to who asked, and as an event that would end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    name: "postgres",
    reader: db,
    writer: db,
    classify,
    close: () => db.destroy(),
  };
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const KINDS: readonly (readonly [RegExp, FailureKind])[] = [
  [/^23505$/, "duplicate"],
  [/^23503$/, "missing"],
  [/^(40001|40P01|55P03)$/, "conflict"],
  // Connection, out of resources, operator's intervention, system error; read-only
  [/^(08|53|57|58)...$|^25006$/, "unavailable"],
  // Signing in failed, no such database
  [/^(28|3D)...$/, "unavailable"],
];

function classify(error: unknown): FailureKind {
  if (!(error instanceof Error)) return "other";
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code))
    return KINDS.find(([pattern]) => pattern.test(code))?.[1] ?? "other";
  // Neither the network's errors nor those of `pg` itself have a code of PostgreSQL.
  return typeof code === "string" || PG_DRIVER_MESSAGES.test(error.message)
    ? "unavailable"
    : "other";
}

const PG_DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;
