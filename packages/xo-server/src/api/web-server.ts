import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { machineMemory } from "@xo-server/inventory";
import { XoError, errorTable } from "@xo-server/model";
import fastify, { type FastifyError, type FastifyInstance } from "fastify";
import {
  attachApiSocket,
  type ApiSocketOptions,
} from "./json-rpc/api-socket.js";
import { BodyTimeout } from "./http/body-timeout.js";
import type { Config } from "../config/config.js";
import { ConsoleSocket, type ConsoleSocketOptions } from "./console-socket.js";
import { createHttpServer } from "./http/http-server.js";
import { LimitHits } from "../limits/limit-hits.js";
import { toListenError } from "./http/listen.js";
import type { OneTimePaths } from "../transfers/one-time-paths.js";
import { addOneTimePaths } from "./transfers/one-time-routes.js";
import {
  addOpenMetricsRoutes,
  type OpenMetricsSource,
} from "./open-metrics-routes.js";
import { ClientAddresses } from "./http/client-address.js";
import { OpenResponses } from "./http/open-responses.js";
import { UnsentBytes, unsentBytesLimit } from "../limits/unsent-bytes.js";
import type { ApiClient } from "./json-rpc/api-client.js";
import { addPoolCopyRoute } from "./pool-copy-route.js";
import { addPoolEventsRoute } from "./pool-events-route.js";
import { addHostProbeRoute } from "./host-probe-route.js";
import { addIsolationRoute } from "./isolation-route.js";
import { TunnelSocket } from "./pool-tunnel-socket.js";
import { addWebPage } from "./web-page.js";
import type { CopyServer } from "../pool-copies/copy-server.js";
import type { RelayServer } from "../event-relay/relay-server.js";
import type { IsolationServer } from "../isolation/isolation-server.js";
import type { ProbeServer } from "../probes/probe-server.js";
import type { TunnelServer } from "../tunnels/tunnel-server.js";
import { addUnreadBodies } from "./http/unread-body.js";
import type { Health } from "../status/health.js";
import { EXPOSITION_TYPE } from "../metrics/exposition.js";
import { addRestApi, type RestApiOptions } from "./rest/rest-api.js";
import { securityHeaders, transportSecurity } from "./http/security-headers.js";
import { startRedirectServer } from "./http/redirect-server.js";
import type { Tls } from "./tls/start-tls.js";

export interface WebServerOptions extends Omit<
  ApiSocketOptions,
  | "limits"
  | "clientAddresses"
  | "hits"
  | "onOtherUpgrade"
  | "onBehind"
  | "connected"
> {
  readonly http: Config["http"];
  /** Undefined: plain HTTP. */
  readonly tls?: Tls | undefined;
  /** Counts requests that exceed a limit. */
  readonly hits?: LimitHits;
  /** Maximum of bytes that all clients together have not read. Default: a share of the memory. */
  readonly maxUnsentBytes?: number;
  /** Filled with the clients of WebSockets, for status and metrics. Default: a set of its own. */
  readonly connected?: Set<ApiClient>;
  readonly readHealth: () => Health;
  /** Returns the response body of /metrics. */
  readonly readMetrics: () => string;
  /** Metrics of the pools; absent: the server has no such route. */
  readonly openMetrics?: OpenMetricsSource;
  /** Folder of the built web page; undefined: not built. */
  readonly webRoot: string | undefined;
  /** Single-use downloads and uploads; absent: the server has no such routes. */
  readonly paths?: OneTimePaths;
  /** Copies of pools for other servers of the database; absent: the server has no such route. */
  readonly copies?: Pick<CopyServer, "open">;
  /** Events of pools for other servers of the database; absent: the server has no such route. */
  readonly events?: Pick<RelayServer, "open">;
  /** Tunnels to pools for other servers of the database; absent: the server opens none. */
  readonly tunnels?: Pick<TunnelServer, "open" | "stop">;
  /** The state of the database for other servers of it; absent: the server has no such route. */
  readonly isolation?: Pick<IsolationServer, "answer">;
  /** Probes of hosts for other servers of the database; absent: the server has no such route. */
  readonly probes?: Pick<ProbeServer, "answer">;
  /** Consoles of VMs and hosts; absent: the server has no such routes. */
  readonly consoles?: Pick<ConsoleSocketOptions, "consoles" | "tickets">;
  readonly rest: Pick<
    RestApiOptions,
    | "objects"
    | "operations"
    | "dispatcher"
    | "authenticator"
    | "tasks"
    | "seals"
  >;
}

/** Serves the web page, /health, /metrics, JSON-RPC and REST. */
export interface WebServer {
  /** URL such as `http://0.0.0.0:9000`. */
  readonly url: string;
  readonly port: number;
  /** Port of the redirect server from http to https; undefined: none. */
  readonly redirectPort: number | undefined;
  stop(): Promise<void>;
}

/** Maximum length of a path parameter (id, reference or tag), in characters. */
const MAX_PARAMETER_LENGTH = 1024;

/** @throws XoError PORT_IN_USE, CONFIG_INVALID: see toListenError */
export async function startWebServer(
  options: WebServerOptions,
): Promise<WebServer> {
  const { http, tls, hits = new LimitHits() } = options;
  const clientAddresses = new ClientAddresses(http.trustedProxies);
  const app = createApp(http, (onRequest) =>
    createHttpServer({ http, tls, hits }, onRequest),
  );
  addRequestHooks(app, { ...options, hits, clientAddresses });
  const connected = options.connected ?? new Set<ApiClient>();
  const checkUnsent = boundUnsentBytes(app, { ...options, hits, connected });
  addErrors(app, options, hits);
  addHealth(app, options.readHealth);
  addMetrics(app, options.readMetrics);
  if (options.openMetrics !== undefined)
    addOpenMetricsRoutes(app, options.openMetrics);
  if (options.paths !== undefined) addOneTimePaths(app, options.paths);
  if (options.copies !== undefined) addPoolCopyRoute(app, options.copies);
  if (options.events !== undefined) addPoolEventsRoute(app, options.events);
  if (options.isolation !== undefined)
    addIsolationRoute(app, options.isolation);
  if (options.probes !== undefined) addHostProbeRoute(app, options.probes);
  await addRestApi(app, { ...options, ...options.rest, ...http, hits });
  const consoles = addConsoles(app, {
    ...options,
    hits,
    clientAddresses,
  });
  const { tunnels } = options;
  const tunnelSocket =
    tunnels && new TunnelSocket({ ...options, tunnels, clientAddresses });
  await addWebPage(app, options.webRoot);
  const api = attachApiSocket(app.server, {
    ...options,
    hits,
    clientAddresses,
    connected,
    limits: http,
    onBehind: checkUnsent,
    onOtherUpgrade: (request, socket, head) =>
      tunnelSocket?.upgrade(request, socket, head) === true ||
      consoles?.upgrade(request, socket, head) === true,
  });
  await listen(app, http);
  const { port } = app.server.address() as AddressInfo;
  const redirect = await startRedirect(app, http, port);
  return {
    url: `${tls === undefined ? "http" : "https"}://${http.host.includes(":") ? `[${http.host}]` : http.host}:${port}`,
    port,
    redirectPort: redirect?.port,
    async stop() {
      await redirect?.stop();
      tunnels?.stop();
      await consoles?.stop();
      await api.stop();
      await app.close();
    },
  };
}

function createApp(
  http: Config["http"],
  createServer: (onRequest: RequestListener) => Server,
): FastifyInstance {
  return fastify({
    bodyLimit: http.maxBodyBytes,
    serverFactory: (onRequest) => createServer(onRequest),
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MAX_PARAMETER_LENGTH,
    },
    // A stop closes idle keep-alive connections instead of waiting for them.
    forceCloseConnections: true,
    // The dispatcher validates parameters. Fastify's schema compilers would add 70 ms to each start.
    schemaController: {
      compilersFactory: {
        buildValidator: notUsed,
        buildSerializer: notUsed,
      },
    },
  });
}

interface RequestHooksOptions extends Pick<WebServerOptions, "http" | "clock"> {
  readonly hits: LimitHits;
  readonly clientAddresses: ClientAddresses;
}

/** Hooks of all requests: client address, body timeout, unread bodies, security headers. */
function addRequestHooks(
  app: FastifyInstance,
  { http, hits, clientAddresses, clock }: RequestHooksOptions,
): void {
  const { hstsSeconds } = http.tls;
  const bodies = new BodyTimeout({
    timeoutMs: http.bodyTimeoutMs,
    onTimeout: () => {
      hits.count("body_timeout");
    },
    clock,
  });
  app.addHook("preClose", async () => {
    bodies.stop();
  });
  addUnreadBodies(app, clock);
  app.decorateRequest("clientAddress");
  app.addHook("onRequest", async (request, reply) => {
    request.clientAddress = clientAddresses.resolve(request.raw);
    const { isSecure } = request.clientAddress;
    bodies.watch(request.raw);
    reply.headers(securityHeaders);
    if (isSecure) reply.headers(transportSecurity(hstsSeconds));
  });
}

/** @returns closes connections of clients that do not read if all together have too much unread */
function boundUnsentBytes(
  app: FastifyInstance,
  options: Required<Pick<WebServerOptions, "hits" | "connected">> &
    Pick<WebServerOptions, "clock" | "logger" | "maxUnsentBytes">,
): () => void {
  const { connected, clock, maxUnsentBytes } = options;
  const responses = new OpenResponses({ ...options, check });
  const unsent = new UnsentBytes({
    clients: {
      *[Symbol.iterator]() {
        yield* connected;
        yield* responses;
      },
    },
    limitBytes: maxUnsentBytes ?? unsentBytesLimit(machineMemory()),
    clock,
  });
  responses.addTo(app);
  function check() {
    unsent.check();
  }
  return check;
}

function addConsoles(
  app: FastifyInstance,
  options: WebServerOptions &
    Pick<ConsoleSocketOptions, "hits" | "clientAddresses">,
): ConsoleSocket | undefined {
  if (options.consoles === undefined) return undefined;
  const { maxRequestsPerSecond } = options.http;
  const { authenticator } = options.rest;
  const socket = new ConsoleSocket({
    ...options,
    ...options.consoles,
    maxRequestsPerSecond,
    authenticator,
  });
  socket.addRoutes(app);
  return socket;
}

async function listen(
  app: FastifyInstance,
  { host, port }: Config["http"],
): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw toListenError(error as NodeJS.ErrnoException, { host, port });
  }
}

async function startRedirect(
  app: FastifyInstance,
  http: Config["http"],
  securePort: number,
) {
  const { redirectPort: port } = http.tls;
  if (port === 0) return undefined;
  try {
    return await startRedirectServer({ ...http, port, securePort });
  } catch (error) {
    await app.close();
    throw error;
  }
}

function notUsed(): never {
  throw new XoError("INTERNAL", { reason: "unexpected Fastify route schema" });
}

function addHealth(app: FastifyInstance, read: () => Health): void {
  app.addHook("onSend", async (request, reply) => {
    if (request.url.startsWith("/health"))
      reply.header("cache-control", "no-store");
  });
  app.get("/health/live", async () => ({ live: true }));
  for (const path of ["/health", "/health/ready"]) {
    app.get(path, async (_request, reply) => {
      const health = read();
      return reply.code(statusOf(health)).send(health);
    });
  }
}

/**
 * Status of /health. 404 while the server leaves or stops: HAProxy (`http-check
 * disable-on-404`) keeps existing clients on the server and sends it no new ones.
 */
function statusOf({ ready, isolated, draining, leaving }: Health): number {
  if (ready) return 200;
  if (isolated) return 503;
  return leaving || draining ? 404 : 503;
}

/**
 * Adds /metrics, which needs no authentication and therefore contains no names of
 * pools and objects.
 */
function addMetrics(app: FastifyInstance, read: () => string): void {
  app.get("/metrics", async (_request, reply) =>
    reply
      .type(EXPOSITION_TYPE)
      .header("cache-control", "no-store")
      .send(read()),
  );
}

function addErrors(
  app: FastifyInstance,
  { logger }: Pick<WebServerOptions, "logger">,
  hits: LimitHits,
): void {
  app.setNotFoundHandler(async (request) => {
    throw new XoError("NO_SUCH_OBJECT", { type: "page", id: request.url });
  });
  app.setErrorHandler(async (error: FastifyError | XoError, request, reply) => {
    if (error instanceof XoError) {
      const { code, message, data } = error;
      return reply.code(errorTable[code].http).send({ code, message, data });
    }
    hits.countError(error);
    const { statusCode = 500, message } = error;
    // Too large, malformed or incomplete: Fastify has chosen the status.
    if (statusCode < 500)
      return reply.code(statusCode).send({ code: "INVALID_REQUEST", message });
    logger.error(`${request.method} ${request.url} failed`, { error });
    return reply
      .code(500)
      .send({ code: "INTERNAL", message: "internal error" });
  });
}
