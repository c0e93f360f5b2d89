import { parentPort, workerData } from "node:worker_threads";
import { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteFailure } from "./sqlite-failure.js";
import type {
  ConnectionName,
  SqliteResponse,
  SqliteRequest,
  SqliteThreadData,
} from "./sqlite-protocol.js";

function answer({ id, ...call }: SqliteRequest): SqliteResponse {
  try {
    return { id, ...connections[call.connection].execute(call) };
  } catch (error) {
    const { code, message } = error as SqliteFailure;
    return { id, error: { code, message } };
  }
}

const { file, durable } = workerData as SqliteThreadData;
const writer = await SqliteConnection.open(file, durable);
const connections: Record<ConnectionName, SqliteConnection> = {
  writer,
  reader: await SqliteConnection.open(file, durable),
};

parentPort!.on("message", (request: SqliteRequest | "close" | "crash") => {
  // Ends the thread, not the process.
  if (request === "crash") process.exit(1);
  if (request !== "close") {
    parentPort!.postMessage(answer(request));
    return;
  }
  connections.reader.close();
  connections.writer.close();
  parentPort!.close();
});
parentPort!.postMessage("open");
