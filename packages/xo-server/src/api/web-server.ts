import type { RequestListener, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { XoError, errorTable } from "@xo-server/model";
import fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { attachApiSocket, type ApiSocketOptions } from "./api-socket.js";
import { BodyGuard } from "./body-guard.js";
import type { Config } from "../config/config.js";
import { ConsoleSocket, type ConsoleSocketOptions } from "./console-socket.js";
import { createHttpServer } from "./http-server.js";
import { LimitHits } from "./limit-hits.js";
import { toListenError } from "./listen.js";
import type { OneTimePaths } from "./one-time-paths.js";
import { addOneTimePaths } from "./one-time-routes.js";
import { addOpenMetrics, type OpenMetricsDoor } from "./open-metrics-routes.js";
import { OuterReader } from "./outer.js";
import { addPage } from "./page.js";
import type { Health } from "../status/health.js";
import { EXPOSITION_TYPE } from "../metrics/exposition.js";
import { addRest, type RestDoorOptions } from "./rest/rest-door.js";
import { securityHeaders, transportSecurity } from "./security-headers.js";
import { startRedirectServer } from "./tls/redirect-server.js";
import type { Tls } from "./tls/start-tls.js";

export interface WebServerOptions extends Omit<
  ApiSocketOptions,
  "limits" | "outers" | "hits" | "upgradeElsewhere"
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
  readonly openMetrics?: OpenMetricsDoor;
  /** Folder of the built page; undefined: it has not been built. */
  readonly webRoot: string | undefined;
  /** What can be fetched once, by who knows its path; absent: nothing. */
  readonly paths?: OneTimePaths;
  /** Screens and terminals; absent: there are none. */
  readonly consoles?: Pick<ConsoleSocketOptions, "consoles" | "tickets">;
  readonly rest: Pick<
    RestDoorOptions,
    "objects" | "operations" | "dispatcher" | "authenticator" | "tasks"
  >;
}

/** The page, /health, /metrics and the API with its two doors. */
export interface WebServer {
  /** As it listens, such as `http://0.0.0.0:9000`. */
  readonly url: string;
  readonly clients: number;
  /** Of the server that sends browsers to https; undefined: there is none. */
  readonly redirectPort: number | undefined;
  stop(): Promise<void>;
}

/** Characters of a part of a path: ids, references, tags. */
const MOST_PARAMETER_CHARACTERS = 1024;

/** @throws XoError PORT_IN_USE, CONFIG_INVALID (an address that is not ours, a port that is not for us) */
export async function startWebServer(
  options: WebServerOptions,
): Promise<WebServer> {
  const { http, tls, hits = new LimitHits() } = options;
  const outers = new OuterReader(http.trustedProxies);
  const app = createApp(http, (onRequest) =>
    createHttpServer({ http, tls, hits }, onRequest),
  );
  addArrival(app, { ...options, hits, outers });
  addErrors(app, options, hits);
  addHealth(app, options.readHealth);
  addMetrics(app, options.readMetrics);
  if (options.openMetrics !== undefined)
    addOpenMetrics(app, options.openMetrics);
  if (options.paths !== undefined) addOneTimePaths(app, options.paths);
  await addRest(app, { ...options, ...options.rest, ...http, hits });
  const consoles = addConsoles(app, { ...options, hits, outers });
  await addPage(app, options.webRoot);
  const api = attachApiSocket(app.server, {
    ...options,
    hits,
    outers,
    limits: http,
    upgradeElsewhere: (request, socket, head) =>
      consoles?.upgrade(request, socket, head) ?? false,
  });
  await listen(app, http);
  const { port } = app.server.address() as AddressInfo;
  const redirect = await startRedirect(app, http, port);
  return {
    url: `${tls === undefined ? "http" : "https"}://${http.host.includes(":") ? `[${http.host}]` : http.host}:${port}`,
    redirectPort: redirect?.port,
    get clients() {
      return api.clients;
    },
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
      maxParamLength: MOST_PARAMETER_CHARACTERS,
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

interface ArrivalOptions extends Pick<WebServerOptions, "http" | "clock"> {
  readonly hits: LimitHits;
  readonly outers: OuterReader;
}

/** What is done with every request first, and said in every answer. */
function addArrival(
  app: FastifyInstance,
  { http, hits, outers, clock }: ArrivalOptions,
): void {
  const { hstsSeconds } = http.tls;
  const bodies = new BodyGuard({
    timeoutMs: http.bodyTimeoutMs,
    onStuck: () => {
      hits.count("body_timeout");
    },
    clock,
  });
  app.addHook("preClose", async () => {
    bodies.stop();
  });
  app.addHook("onRequest", async ({ raw }, reply) => {
    const { isSecure } = outers.note(raw);
    bodies.watch(raw);
    reply.headers(securityHeaders);
    if (isSecure) reply.headers(transportSecurity(hstsSeconds));
  });
}

function addConsoles(
  app: FastifyInstance,
  options: WebServerOptions & Pick<ConsoleSocketOptions, "hits" | "outers">,
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
