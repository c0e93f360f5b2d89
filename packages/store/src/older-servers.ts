import { pause, type Logger, type Timers } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Kysely } from "kysely";
import { listCurrentTables } from "./engines/current-tables.js";
import { databaseNow } from "./engines/database-clock.js";
import type { Engine } from "./engines/engine.js";
import { LOST_SERVER_MS } from "./schema/cluster-tables.js";
import type { Tables } from "./schema/tables.js";

/** Interval of reading heartbeats, in ms. */
const POLL_MS = 500;

interface RunningServer {
  readonly name: string;
  readonly instance: string;
  readonly version: string;
  readonly seenAt: number;
}

interface CheckOptions {
  /** Name of the migration that is not additive. */
  readonly migration: string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, "info">;
}

/**
 * Rejects a migration while servers run that need the previous tables. A server
 * that was just killed sends no further heartbeat, which is awaited.
 * @param db the connection that has the migration lock, so that no server can start
 * @throws XoError STORE_IN_USE
 */
export async function checkOlderServers(
  db: Kysely<Tables>,
  engine: Pick<Engine, "name">,
  { migration, timers, logger }: CheckOptions,
): Promise<void> {
  // Other processes of the same SQLite file are commands.
  if (engine.name === "sqlite" || !(await hasServers(db, engine))) return;
  const before = new Map(
    (await readRunning(db, engine)).map((one) => [one.instance, one]),
  );
  if (before.size > 0)
    logger.info(
      `before the migration ${migration}: checking whether these servers are running: ${toText([...before.values()])}`,
    );
  for (;;) {
    const running = await readRunning(db, engine);
    const alive = running.filter(
      ({ instance, seenAt }) => before.get(instance)?.seenAt !== seenAt,
    );
    if (alive.length > 0) throw inUse(migration, running);
    if (running.length === 0) return;
    await pause(timers, POLL_MS);
  }
}

async function hasServers(
  db: Kysely<Tables>,
  engine: Pick<Engine, "name">,
): Promise<boolean> {
  const tables = await listCurrentTables(db, engine);
  return tables.some(({ name }) => name === "cluster_servers");
}

async function readRunning(
  db: Kysely<Tables>,
  engine: Pick<Engine, "name">,
): Promise<readonly RunningServer[]> {
  const rows = await db
    .selectFrom("cluster_servers")
    .select(["id as name", "instance", "version", "seen_at as seenAt"])
    .select(databaseNow(engine).as("now"))
    .orderBy("id")
    .execute();
  return rows.filter(({ seenAt, now }) => now - seenAt < LOST_SERVER_MS);
}

function inUse(migration: string, running: readonly RunningServer[]): XoError {
  return new XoError("STORE_IN_USE", {
    migration,
    servers: toText(running),
  });
}

function toText(servers: readonly RunningServer[]): string {
  return servers
    .map(({ name, version }) => `${name} (version ${version})`)
    .join(", ");
}
