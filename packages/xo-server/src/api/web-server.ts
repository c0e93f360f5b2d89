import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
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
import { addWebPage } from "./web-page.js";
import type { Health } from "../status/health.js";
import { EXPOSITION_TYPE } from "../metrics/exposition.js";
import { addRestApi, type RestApiOptions } from "./rest/rest-api.js";
import { securityHeaders, transportSecurity } from "./http/security-headers.js";
import { startRedirectServer } from "./http/redirect-server.js";
import type { Tls } from "./tls/start-tls.js";

export interface WebServerOptions extends Omit<
  ApiSocketOptions,
  "limits" | "clientAddresses" | "hits" | "onOtherUpgrade"
> {
  readonly http: Config["http"];
  /** Undefined: plain HTTP. */
  readonly tls?: Tls | undefined;
  /** Where it is counted how often limits are hit. */
  readonly hits?: LimitHits;
  readonly readHealth: () => Health;
  /** What /metrics answers: see metrics/exposition. */
  readonly readMetrics: () => string;
  /** Figures of the pools; absent: there are none. */
  readonly openMetrics?: OpenMetricsSource;
  /** Folder of the built page; undefined: it has not been built. */
  readonly webRoot: string | undefined;
  /** What can be fetched once, by who knows its path; absent: nothing. */
  readonly paths?: OneTimePaths;
  /** Screens and terminals; absent: there are none. */
  readonly consoles?: Pick<ConsoleSocketOptions, "consoles" | "tickets">;
  readonly rest: Pick<
    RestApiOptions,
    "objects" | "operations" | "dispatcher" | "authenticator" | "tasks"
  >;
}

/** The page, /health, /metrics and the API with its two doors. */
export interface WebServer {
  /** As it listens, such as `http://0.0.0.0:9000`. */
  readonly url: string;
  /** Of the server that sends browsers to https; undefined: there is none. */
  readonly redirectPort: number | undefined;
  stop(): Promise<void>;
}

/** Characters of a part of a path: ids, references, tags. */
const MAX_PARAMETER_LENGTH = 1024;

/** @throws XoError PORT_IN_USE, CONFIG_INVALID (an address that is not ours, a port that is not for us) */
export async function startWebServer(
  options: WebServerOptions,
): Promise<WebServer> {
  const { http, tls, hits = new LimitHits() } = options;
  const outers = new ClientAddresses(http.trustedProxies);
  const app = createApp(http, (onRequest) =>
    createHttpServer({ http, tls, hits }, onRequest),
  );
  addRequestHooks(app, { ...options, hits, outers });
  addErrors(app, options, hits);
  addHealth(app, options.readHealth);
  addMetrics(app, options.readMetrics);
  if (options.openMetrics !== undefined)
    addOpenMetricsRoutes(app, options.openMetrics);
  if (options.paths !== undefined) addOneTimePaths(app, options.paths);
  await addRestApi(app, { ...options, ...options.rest, ...http, hits });
  const consoles = addConsoles(app, {
    ...options,
    hits,
    clientAddresses: outers,
  });
  await addWebPage(app, options.webRoot);
  const api = attachApiSocket(app.server, {
    ...options,
    hits,
    clientAddresses: outers,
    limits: http,
    onOtherUpgrade: (request, socket, head) =>
      consoles?.upgrade(request, socket, head) ?? false,
  });
  await listen(app, http);
  const { port } = app.server.address() as AddressInfo;
  const redirect = await startRedirect(app, http, port);
  return {
    url: `${tls === undefined ? "http" : "https"}://${http.host.includes(":") ? `[${http.host}]` : http.host}:${port}`,
    redirectPort: redirect?.port,
    async stop() {
      await redirect?.stop();
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
    // Browsers keep connections open for the next request; a stopping server does not wait for it.
    forceCloseConnections: true,
    // Routes have no schemas of fastify's: the dispatcher checks. Its compilers would cost 70 ms of each start.
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
  readonly outers: ClientAddresses;
}

/** What is done with every request first, and said in every answer. */
function addRequestHooks(
  app: FastifyInstance,
  { http, hits, outers, clock }: RequestHooksOptions,
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
  app.addHook("onRequest", async ({ raw }, reply) => {
    const { isSecure } = outers.resolve(raw);
    bodies.watch(raw);
    reply.headers(securityHeaders);
    if (isSecure) reply.headers(transportSecurity(hstsSeconds));
  });
}

function addConsoles(
  app: FastifyInstance,
  options: WebServerOptions &
    Pick<ConsoleSocketOptions, "hits" | "clientAddresses">,
): ConsoleSocket | undefined {
  if (options.consoles === undefined) return undefined;
  const { maxRequestsPerSecond } = options.http;
  const { authenticator } = options.rest;
  const door = new ConsoleSocket({
    ...options,
    ...options.consoles,
    maxRequestsPerSecond,
    authenticator,
  });
  door.addRoutes(app);
  return door;
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
  throw new XoError("INTERNAL", { reason: "routes have no schemas" });
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
      return reply.code(health.ready ? 200 : 503).send(health);
    });
  }
}

/** Figures only, no names of pools or objects: there is no login here. */
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
    // Too big, not readable, cut short: fastify knows the status best.
    if (statusCode < 500)
      return reply.code(statusCode).send({ code: "INVALID_REQUEST", message });
    logger.error(`${request.method} ${request.url} failed`, { error });
    return reply
      .code(500)
      .send({ code: "INTERNAL", message: "internal error" });
  });
}
