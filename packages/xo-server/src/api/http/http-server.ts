import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Config } from "../../config/config.js";
import type { LimitHits, LimitName } from "../../limits/limit-hits.js";
import { endWithResponse } from "./raw-response.js";
import type { Tls } from "../tls/start-tls.js";

export interface HttpServerOptions {
  readonly http: Pick<
    Config["http"],
    "maxHeaderBytes" | "maxConnections" | "headersTimeoutMs"
  >;
  /** Undefined: plain HTTP. */
  readonly tls: Tls | undefined;
  readonly hits: LimitHits;
}

/** A connection on which nothing comes for so long between two requests is closed; longer than proxies keep theirs. */
const KEEP_ALIVE_MS = 72_000;

/** Peers that have vanished without a word are found by the system's own probes. */
const KEEP_ALIVE_PROBE_MS = 60_000;

/** How often Node looks for headers that are late. */
const TIMEOUT_CHECK_MS = 2_000;

/** The server under all doors, plain or secure, with the bounds of what comes before a request is one. */
export function createHttpServer(
  { http, tls, hits }: HttpServerOptions,
  onRequest: RequestListener,
): Server {
  const settings = {
    maxHeaderSize: http.maxHeaderBytes,
    headersTimeout: http.headersTimeoutMs,
    // Of the whole request, uploads too: bodies are guarded by how they move, see body-guard.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(
      TIMEOUT_CHECK_MS,
      http.headersTimeoutMs,
    ),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    // Not lenient about what proxies and servers have read differently.
    insecureHTTPParser: false,
    requireHostHeader: true,
  };
  const server =
    tls === undefined
      ? createServer(settings, onRequest)
      : createSecureServer(
          {
            ...settings,
            ...tls.settings,
            handshakeTimeout: http.headersTimeoutMs,
          },
          onRequest,
        );
  if ("setSecureContext" in server) tls?.attach(server);
  server.maxConnections = http.maxConnections;
  server.on("drop", () => {
    hits.count("connections");
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    rejectConnection(error, socket, hits);
  });
  return server;
}

const clientErrors: Readonly<
  Record<string, { status: number; text: string; limit: LimitName }>
> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    text: "the headers are too large",
    limit: "header_size",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    text: "the headers took too long",
    limit: "header_timeout",
  },
};

/** Not a request, or not one that can be read in one way only. */
function rejectConnection(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  hits: LimitHits,
): void {
  const known = clientErrors[error.code ?? ""];
  if (known !== undefined) hits.count(known.limit);
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  endWithResponse(socket, known?.status ?? 400, known?.text ?? "not a request");
  // What else it sends is not read.
  (socket as Socket).destroySoon();
}
