import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { ApiClient } from "./api-client.js";
import type { Clock } from "../../clock.js";
import type { Config } from "../../config/config.js";
import { limitAnonymousMessage } from "./anonymous-limit.js";
import type { JsonRpcHandler } from "./json-rpc.js";
import type { LimitHits } from "../../limits/limit-hits.js";
import type { Logger } from "../../log/logger.js";
import type { Permission } from "../../operations/operation.js";
import type { ClientAddresses } from "../http/client-address.js";
import { RateLimits, toRateKey } from "../../limits/rate-limits.js";
import { endWithResponse } from "../http/raw-response.js";
import { SocketLimits } from "./socket-limits.js";

export interface ApiSocketOptions {
  readonly limits: Pick<
    Config["http"],
    | "compressAboveBytes"
    | "maxBufferedBytes"
    | "maxDepth"
    | "maxGuestSockets"
    | "maxMessageBytes"
    | "maxMessagesPerSecond"
    | "maxMessagesPerUserPerSecond"
    | "maxSockets"
    | "maxSocketsPerAddress"
  >;
  readonly jsonRpc: JsonRpcHandler;
  /** Of who has not signed in. */
  readonly permission: Permission;
  readonly onClose: (client: ApiClient) => void;
  /** Updated here: the clients that are connected, for the status and for metrics. */
  readonly connected?: Set<ApiClient>;
  /** Takes upgrades on other paths. @returns false: it does not know the path. Default: nobody takes any. */
  readonly onOtherUpgrade?: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => boolean;
  readonly clientAddresses: ClientAddresses;
  readonly hits: LimitHits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** JSON-RPC 2.0 over WebSocket at `/api/`. */
export interface ApiSocket {
  /** Says goodbye to all clients; who does not answer is cut off. */
  stop(): Promise<void>;
}

/** Clients add the slash; a person with a command line forgets it. */
const PATHS = new Set(["/api/", "/api"]);

const CLOSE_TIMEOUT_MS = 1000;

/** Each is an object, however small: a message of single bytes would take a hundred times its size. */
const MAX_FRAGMENTS = 1024;
const MAX_CHUNKS = 16 * 1024;

/**
 * No cookie and no header says who opens a socket, on any origin: signing in is
 * the first message. A page of another site gets no further than a stranger.
 */
export function attachApiSocket(
  server: Server,
  options: ApiSocketOptions,
): ApiSocket {
  const { clock, logger, clientAddresses: outers } = options;
  const clients = options.connected ?? new Set<ApiClient>();
  const limits = new SocketLimits({ ...options.limits, hits: options.hits });
  const userRates = new RateLimits(
    options.limits.maxMessagesPerUserPerSecond,
    clock,
  );
  const sockets = createSockets(options.limits);
  const welcome = (webSocket: WebSocket, request: IncomingMessage) => {
    const { address } = outers.resolve(request);
    const client = new ApiClient({
      ...options,
      ...options.limits,
      limits,
      userRates,
      socket: webSocket,
      connection: request.socket,
      address,
      rateKey: toRateKey(address),
    });
    clients.add(client);
    limits.add(client);
    limitAnonymousMessage(request.socket, webSocket, () => {
      if (client.session !== undefined) return true;
      options.hits.count("message_size");
      return false;
    });
    logger.debug(`${address} connected`);
    webSocket.on("close", (code) => {
      clients.delete(client);
      limits.remove(client);
      options.onClose(client);
      logger.debug(`${address} disconnected (${code})`);
    });
  };
  server.on("upgrade", (request, socket, head) => {
    // A socket that breaks while it is being upgraded has no other listener yet.
    socket.on("error", () => undefined);
    const isHere = PATHS.has(request.url ?? "");
    if (!isHere && options.onOtherUpgrade?.(request, socket, head) === true)
      return;
    const { address } = outers.resolve(request);
    const refusal = isHere
      ? limits.rejectionReason(toRateKey(address))
      : undefined;
    if (!isHere) rejectUnknownPath(socket, request);
    else if (refusal !== undefined)
      endWithResponse(socket, 503, refusal, { "retry-after": "10" });
    else sockets.handleUpgrade(request, socket, head, welcome);
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
      // Otherwise each client holds a window of its own for its whole life.
      serverNoContextTakeover: true,
      clientNoContextTakeover: true,
    },
    // What a client offers is not looked at: none of them needs one.
    handleProtocols: () => false,
  });
}

function rejectUnknownPath(socket: Duplex, { url }: IncomingMessage): void {
  endWithResponse(
    socket,
    404,
    `no WebSocket at ${JSON.stringify(url)}, it is at /api/`,
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
