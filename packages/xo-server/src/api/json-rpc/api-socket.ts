import type { WallClock } from "@xo-server/kit";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { ApiClient } from "./api-client.js";
import type { Config } from "../../config/config.js";
import { limitAnonymousMessage } from "./anonymous-limit.js";
import type { JsonRpcHandler } from "./json-rpc.js";
import type { LimitHits } from "../../limits/limit-hits.js";
import type { Logger } from "../../log/logger.js";
import type { Permission } from "../../operations/operation.js";
import type { ClientAddresses } from "../http/client-address.js";
import { RateLimits, toRateKey } from "../../limits/rate-limits.js";
import { hasSeveralHosts, SEVERAL_HOSTS } from "../http/host-lines.js";
import { endWithResponse } from "../http/raw-response.js";
import { SocketLimits } from "./socket-limits.js";

export interface ApiSocketOptions {
  readonly limits: Pick<
    Config["http"],
    | "compressAboveBytes"
    | "maxBufferedBytes"
    | "maxDepth"
    | "maxAnonymousSockets"
    | "maxMessageBytes"
    | "maxMessagesPerSecond"
    | "maxMessagesPerUserPerSecond"
    | "maxSockets"
    | "maxSocketsPerAddress"
  >;
  readonly jsonRpc: JsonRpcHandler;
  /** Permission of anonymous clients. */
  readonly permission: Permission;
  /** Called when a client has disconnected, and again when a call of it ends later. */
  readonly onClose: (client: ApiClient) => void;
  /** Called when something is sent while a client has much unread. */
  readonly onBehind: () => void;
  /** Filled with the connected clients. */
  readonly connected: Set<ApiClient>;
  /** Handles upgrades on other paths. @returns false: unknown path. Default: all are rejected. */
  readonly onOtherUpgrade?: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => boolean;
  readonly clientAddresses: ClientAddresses;
  readonly hits: LimitHits;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** JSON-RPC 2.0 over WebSocket at `/api/`. */
interface ApiSocket {
  /** Closes all connections; terminates those that do not close in time. */
  stop(): Promise<void>;
}

/** Clients of Xen Orchestra send the trailing slash. */
const PATHS = new Set(["/api/", "/api"]);

const CLOSE_TIMEOUT_MS = 1000;

/**
 * Maximum number of fragments of a message. `ws` allocates an object for each
 * fragment or chunk: a message in single bytes would need a hundred times its size.
 */
const MAX_FRAGMENTS = 1024;
const MAX_CHUNKS = 16 * 1024;

/**
 * Cookies and headers do not authenticate a connection: the client signs in by a
 * message. So a page of another origin is anonymous.
 */
export function attachApiSocket(
  server: Server,
  options: ApiSocketOptions,
): ApiSocket {
  const { clock, logger, clientAddresses, connected: clients } = options;
  const limits = new SocketLimits({ ...options.limits, hits: options.hits });
  const userRates = new RateLimits(
    options.limits.maxMessagesPerUserPerSecond,
    clock,
  );
  const sockets = createSockets(options.limits);
  const accept = (webSocket: WebSocket, request: IncomingMessage) => {
    const { address } = clientAddresses.resolve(request);
    const client: ApiClient = new ApiClient({
      ...options,
      ...options.limits,
      limits,
      userRates,
      socket: webSocket,
      connection: request.socket,
      address,
      rateKey: toRateKey(address),
      onLateEnd: () => {
        options.onClose(client);
      },
    });
    clients.add(client);
    limits.add(client);
    limitAnonymousMessage(request.socket, webSocket, () => {
      if (client.session !== undefined) return true;
      options.hits.count("message_size");
      return false;
    });
    logger.debug(`client ${address} connected`);
    webSocket.on("close", (code) => {
      clients.delete(client);
      limits.remove(client);
      options.onClose(client);
      logger.debug(`client ${address} disconnected (${code})`);
    });
  };
  server.on("upgrade", (request, socket, head) => {
    // During the upgrade the socket has no other listener for errors.
    socket.on("error", () => undefined);
    if (hasSeveralHosts(request)) {
      endWithResponse(socket, 400, SEVERAL_HOSTS);
      return;
    }
    const isHere = PATHS.has(request.url ?? "");
    if (!isHere && options.onOtherUpgrade?.(request, socket, head) === true)
      return;
    const { address } = clientAddresses.resolve(request);
    const refusal = isHere
      ? limits.rejectionReason(toRateKey(address))
      : undefined;
    if (!isHere) rejectUnknownPath(socket, request);
    else if (refusal !== undefined)
      endWithResponse(socket, 503, refusal, { "retry-after": "10" });
    else sockets.handleUpgrade(request, socket, head, accept);
  });
  return {
    stop: () => stopAll(sockets, clients, clock),
  };
}

function createSockets({
  maxMessageBytes,
  compressAboveBytes,
}: ApiSocketOptions["limits"]): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    perMessageDeflate: compressAboveBytes > 0 && {
      threshold: compressAboveBytes,
      // Otherwise each connection keeps a compression window in memory.
      serverNoContextTakeover: true,
      clientNoContextTakeover: true,
    },
    // Xen Orchestra accepts no subprotocol; clients request none.
    handleProtocols: () => false,
  });
}

function rejectUnknownPath(socket: Duplex, { url }: IncomingMessage): void {
  endWithResponse(
    socket,
    404,
    `no WebSocket at ${JSON.stringify(url)}, use /api/`,
  );
}

async function stopAll(
  sockets: WebSocketServer,
  clients: ReadonlySet<ApiClient>,
  clock: WallClock,
): Promise<void> {
  for (const client of clients) client.close();
  const cutOff = clock.setTimeout(() => {
    for (const client of clients) client.terminate();
  }, CLOSE_TIMEOUT_MS);
  await new Promise<void>((resolve) => {
    // With `noServer` the callback runs when the last client has disconnected.
    sockets.close(() => {
      resolve();
    });
  });
  clock.clearTimeout(cutOff);
}
