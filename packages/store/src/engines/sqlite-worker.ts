import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteFailure } from "./sqlite-failure.js";
import type {
  ConnectionName,
  SqliteOpened,
  SqliteResponse,
  SqliteRequest,
  SqliteThreadData,
} from "./sqlite-protocol.js";

function answer(
  connections: Record<ConnectionName, SqliteConnection>,
  { id, ...call }: SqliteRequest,
): SqliteResponse {
  try {
    return { id, ...connections[call.connection].execute(call) };
  } catch (error) {
    const { code, message } = error as SqliteFailure;
    return { id, error: { code, message } };
  }
}

/** @throws SqliteFailure, and errors of the package `libsql` */
async function openConnections(): Promise<
  Record<ConnectionName, SqliteConnection>
> {
  const { file, durable } = workerData as SqliteThreadData;
  return {
    writer: await SqliteConnection.open(file, durable),
    reader: await SqliteConnection.open(file, durable),
  };
}

function listen(
  connections: Record<ConnectionName, SqliteConnection>,
  port: MessagePort,
): void {
  port.on("message", (request: SqliteRequest | "close" | "crash") => {
    // Ends the thread, not the process.
    if (request === "crash") process.exit(1);
    if (request !== "close") {
      port.postMessage(answer(connections, request));
      return;
    }
    connections.reader.close();
    connections.writer.close();
    port.close();
  });
}

const port = parentPort!;
try {
  listen(await openConnections(), port);
  port.postMessage({ opened: true } satisfies SqliteOpened);
} catch (error) {
  // An error that ends a thread loses its message on the way, if its class is not one of JavaScript.
  const reason = error instanceof Error ? error.message : String(error);
  port.postMessage({ opened: false, reason } satisfies SqliteOpened);
}
