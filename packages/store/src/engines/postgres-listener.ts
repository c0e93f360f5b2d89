import type { Client, ClientConfig } from "pg";
import type { Listening, NoticeHandlers } from "./engine.js";

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
