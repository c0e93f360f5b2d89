import type { Client, ClientConfig } from "pg";
import type { Listening, NoticeHandlers } from "./engine.js";

/**
 * How PostgreSQL finds out that a server is gone whose machine has no power or no network: nothing
 * closes its connections, and without this its locks would be held for two hours, so that no other
 * server could write, renew a lease, or migrate the database.
 */
export const KEEP_ALIVE = `set tcp_keepalives_idle = 5;
set tcp_keepalives_interval = 2;
set tcp_keepalives_count = 3;`;

/**
 * Listens to a channel on a dedicated connection, because the pool opens and closes
 * its connections.
 * @throws errors of `pg`
 */
export async function listenToPostgres(
  config: ClientConfig,
  channel: string,
  { onNotice, onEnd }: NoticeHandlers,
): Promise<Listening> {
  const { default: pg } = await import("pg");
  const client: Client = new pg.Client(config);
  let hasEnded = false;
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    onEnd();
  };
  // An error of a connection that is not in use would end the process.
  client.on("error", end);
  client.on("end", end);
  client.on("notification", onNotice);
  try {
    await client.connect();
    await client.query(KEEP_ALIVE);
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
  } catch (error) {
    hasEnded = true;
    // The first error is the one to report.
    await client.end().catch(() => undefined);
    throw error;
  }
  return {
    async close() {
      hasEnded = true;
      // It is broken already.
      await client.end().catch(() => undefined);
    },
  };
}
