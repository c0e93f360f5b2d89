import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { ApiClient } from "./api-client.js";
import type { Clock } from "../clock.js";
import type { Config } from "../config/config.js";
import type { JsonRpcDoor } from "./json-rpc.js";
import type { Logger } from "../log/logger.js";
import type { Permission } from "../operations/operation.js";

export interface ApiSocketOptions {
  readonly limits: Pick<
    Config["http"],
    "maxMessageBytes" | "maxMessagesPerSecond" | "maxBufferedBytes"
  >;
  readonly door: JsonRpcDoor;
  /** Of who has not signed in. */
  readonly permission: Permission;
  readonly onGone: (client: ApiClient) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** JSON-RPC 2.0 over WebSocket at `/api/`. */
export interface ApiSocket {
  readonly clients: number;
  /** Says goodbye to all clients; who does not answer is cut off. */
  stop(): Promise<void>;
}

/** Clients add the slash; a person with a command line forgets it. */
const PATHS = new Set(["/api/", "/api"]);

/** Compressing smaller messages costs more time than it saves on the way. */
const COMPRESS_ABOVE_BYTES = 512 * 1024;

const CLOSE_TIMEOUT_MS = 1000;

export function attachApiSocket(
  server: Server,
  options: ApiSocketOptions,
): ApiSocket {
  const { clock, logger } = options;
  const clients = new Set<ApiClient>();
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.limits.maxMessageBytes,
    perMessageDeflate: {
      threshold: COMPRESS_ABOVE_BYTES,
      // Otherwise each client holds a window of its own for its whole life.
      serverNoContextTakeover: true,
      clientNoContextTakeover: true,
    },
    // What a client offers is not looked at: none of them needs one.
    handleProtocols: () => false,
  });
  server.on("upgrade", (request, socket, head) => {
    // A socket that breaks while it is being upgraded has no other listener yet.
    socket.on("error", () => undefined);
    if (!PATHS.has(request.url ?? "")) {
      refuse(socket, request);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const address = `${request.socket.remoteAddress}:${request.socket.remotePort}`;
      const client = new ApiClient({
        ...options.limits,
        socket: webSocket,
        address,
        door: options.door,
        permission: options.permission,
        clock,
        logger,
      });
      clients.add(client);
      logger.debug(`${address} connected`);
      webSocket.on("close", (code) => {
        clients.delete(client);
        options.onGone(client);
        logger.debug(`${address} disconnected (${code})`);
      });
    });
  });
  return {
    get clients() {
      return clients.size;
    },
    stop: () => stopAll(sockets, clients, clock),
  };
}

function refuse(socket: Duplex, request: IncomingMessage): void {
  const body = `no WebSocket at ${JSON.stringify(request.url)}, it is at /api/\n`;
  socket.end(
    "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n" +
      `x-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

async function stopAll(
  sockets: WebSocketServer,
  clients: ReadonlySet<ApiClient>,
  clock: Clock,
): Promise<void> {
  for (const client of clients) client.close();
  const cutOff = clock.setTimeout(() => {
    for (const client of clients) client.terminate();
  }, CLOSE_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    // Without a server of its own it calls back when its last client has gone.
    sockets.close(() => {
      resolve();
    });
  });
  clock.clearTimeout(cutOff);
}
