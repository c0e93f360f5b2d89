import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Config } from "../../config/config.js";
import type { LimitHits, LimitName } from "../../limits/limit-hits.js";
import { endWithResponse } from "./raw-response.js";
import type { Tls } from "../tls/start-tls.js";
import { hasSeveralHosts, SEVERAL_HOSTS } from "./host-lines.js";
import { PipelinedRequests } from "./pipelined-requests.js";
import { RequestTurns } from "./request-turns.js";

interface HttpServerOptions {
  readonly http: Pick<
    Config["http"],
    "maxHeaderBytes" | "maxConnections" | "headersTimeoutMs"
  >;
  /** Undefined: plain HTTP. */
  readonly tls: Tls | undefined;
  readonly hits: LimitHits;
}

/** Idle connections are closed after this; longer than the usual keep-alive of reverse proxies. */
const KEEP_ALIVE_MS = 72_000;

/** TCP keep-alive probes detect clients that have disappeared. */
const KEEP_ALIVE_PROBE_MS = 60_000;

/** How often Node.js checks for overdue headers. */
const TIMEOUT_CHECK_MS = 2_000;

/** The HTTP or HTTPS server, with limits on connections and headers. */
export function createHttpServer(
  { http, tls, hits }: HttpServerOptions,
  onRequest: RequestListener,
): Server {
  const settings = {
    maxHeaderSize: http.maxHeaderBytes,
    headersTimeout: http.headersTimeoutMs,
    // A limit on the whole request would end uploads; bodies have BodyTimeout.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(
      TIMEOUT_CHECK_MS,
      http.headersTimeoutMs,
    ),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
    // Strict parsing: lenient parsing allows request smuggling.
    insecureHTTPParser: false,
    requireHostHeader: true,
  };
  const requests = new PipelinedRequests({
    onRequest,
    onTooMany() {
      hits.count("pipelined_requests");
    },
    turns: new RequestTurns({
      now: () => performance.now(),
      nextTurn: setImmediate,
    }),
  });
  const listener: RequestListener = (request, response) => {
    if (hasSeveralHosts(request))
      response.writeHead(400, { connection: "close" }).end(SEVERAL_HOSTS);
    else requests.handle(request, response);
  };
  const server =
    tls === undefined
      ? createServer(settings, listener)
      : createSecureServer(
          {
            ...settings,
            ...tls.settings,
            handshakeTimeout: http.headersTimeoutMs,
          },
          listener,
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
    text: "request headers too large",
    limit: "header_size",
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    text: "timeout while reading the request headers",
    limit: "header_timeout",
  },
};

/** Responds to a connection whose request cannot be parsed. */
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
  endWithResponse(
    socket,
    known?.status ?? 400,
    known?.text ?? "malformed request",
  );
  // The rest of the input is not read.
  (socket as Socket).destroySoon();
}
