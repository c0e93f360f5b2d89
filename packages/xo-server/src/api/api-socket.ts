import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import { ApiClient } from "./api-client.js";
import type { Clock } from "../clock.js";
import type { Config } from "../config/config.js";
import { boundGuest } from "./guest-bound.js";
import type { JsonRpcDoor } from "./json-rpc.js";
import type { LimitHits } from "./limit-hits.js";
import type { Logger } from "../log/logger.js";
import type { Permission } from "../operations/operation.js";
import type { OuterReader } from "./outer.js";
import { Rates, toRateKey } from "./rates.js";
import { endWith } from "./raw-answer.js";
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
  readonly door: JsonRpcDoor;
  /** Of who has not signed in. */
  readonly permission: Permission;
  readonly onGone: (client: ApiClient) => void;
  /** Takes upgrades on other paths. @returns false: it does not know the path. Default: nobody takes any. */
  readonly upgradeElsewhere?: (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ) => boolean;
  readonly outers: OuterReader;
  readonly hits: LimitHits;
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

const CLOSE_TIMEOUT_MS = 1000;

/** Each is an object, however small: a message of single bytes would take a hundred times its size. */
const MOST_FRAGMENTS = 1024;
const MOST_CHUNKS = 16 * 1024;

/**
 * No cookie and no header says who opens a socket, on any origin: signing in is
 * the first message. A page of another site gets no further than a stranger.
 */
export function attachApiSocket(
  server: Server,
  options: ApiSocketOptions,
): ApiSocket {
  const { clock, logger, outers } = options;
  const clients = new Set<ApiClient>();
  const limits = new SocketLimits({ ...options.limits, hits: options.hits });
  const userRates = new Rates(
    options.limits.maxMessagesPerUserPerSecond,
    clock,
  );
  const sockets = createSockets(options.limits);
  const welcome = (webSocket: WebSocket, request: IncomingMessage) => {
    const { address } = outers.note(request);
    const client = new ApiClient({
      ...options,
      ...options.limits,
      limits,
      userRates,
      socket: webSocket,
      wire: request.socket,
      address,
      rateKey: toRateKey(address),
    });
    clients.add(client);
    limits.add(client);
    boundGuest(request.socket, webSocket, () => {
      if (client.session !== undefined) return true;
      options.hits.count("message_size");
      return false;
    });
    logger.debug(`${address} connected`);
    webSocket.on("close", (code) => {
      clients.delete(client);
      limits.remove(client);
      options.onGone(client);
      logger.debug(`${address} disconnected (${code})`);
    });
  };
  server.on("upgrade", (request, socket, head) => {
    // A socket that breaks while it is being upgraded has no other listener yet.
    socket.on("error", () => undefined);
    const isHere = PATHS.has(request.url ?? "");
    if (!isHere && options.upgradeElsewhere?.(request, socket, head) === true)
      return;
    const { address } = outers.note(request);
    const refusal = isHere ? limits.refusal(toRateKey(address)) : undefined;
    if (!isHere) refuseElsewhere(socket, request);
    else if (refusal !== undefined)
      endWith(socket, 503, refusal, { "retry-after": "10" });
    else sockets.handleUpgrade(request, socket, head, welcome);
  });
  return {
    get clients() {
      return clients.size;
    },
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
    maxFragments: MOST_FRAGMENTS,
    maxBufferedChunks: MOST_CHUNKS,
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

function refuseElsewhere(socket: Duplex, { url }: IncomingMessage): void {
  endWith(
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
