import type { AddressInfo } from "node:net";
import fastifyStatic from "@fastify/static";
import { XoError, errorTable } from "@xo-server/model";
import fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { attachApiSocket, type ApiSocketOptions } from "./api-socket.js";
import type { Config } from "../config/config.js";
import { addOneTimePaths, type OneTimePaths } from "./one-time-paths.js";
import type { Health } from "../status/health.js";
import { EXPOSITION_TYPE } from "../metrics/exposition.js";
import { addRest, type RestDoorOptions } from "./rest/rest-door.js";
import { securityHeaders } from "./security-headers.js";

export interface WebServerOptions extends Omit<ApiSocketOptions, "limits"> {
  readonly http: Config["http"];
  readonly readHealth: () => Health;
  /** What /metrics answers: see metrics/exposition. */
  readonly readMetrics: () => string;
  /** Folder of the built page; undefined: it has not been built. */
  readonly webRoot: string | undefined;
  /** What can be fetched once, by who knows its path; absent: nothing. */
  readonly paths?: OneTimePaths;
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
  stop(): Promise<void>;
}

/** Time for the headers, and for the whole of a request, in ms. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Characters of a part of a path: ids, references, tags. */
const MOST_PARAMETER_CHARACTERS = 1024;

/** @throws XoError PORT_IN_USE, CONFIG_INVALID (an address that is not ours, a port that is not for us) */
export async function startWebServer(
  options: WebServerOptions,
): Promise<WebServer> {
  const { http } = options;
  const app = fastify({
    bodyLimit: http.maxBodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: MOST_PARAMETER_CHARACTERS,
    },
    http: {
      maxHeaderSize: http.maxHeaderBytes,
      headersTimeout: HEADERS_TIMEOUT_MS,
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
  app.server.maxConnections = http.maxConnections;
  app.addHook("onRequest", async (_request, reply) => {
    reply.headers(securityHeaders);
  });
  addErrors(app, options);
  addHealth(app, options.readHealth);
  addMetrics(app, options.readMetrics);
  if (options.paths !== undefined) addOneTimePaths(app, options.paths);
  await addRest(app, { ...options, ...options.rest, ...http });
  await addPage(app, options.webRoot);
  const api = attachApiSocket(app.server, { ...options, limits: http });
  await listen(app, http);
  const { port } = app.server.address() as AddressInfo;
  return {
    url: `http://${http.host.includes(":") ? `[${http.host}]` : http.host}:${port}`,
    get clients() {
      return api.clients;
    },
    async stop() {
      await api.stop();
      await app.close();
    },
  };
}

const NOT_OUR_ADDRESS = new Set([
  "EADDRNOTAVAIL",
  "EAI_AGAIN",
  "EINVAL",
  "ENOTFOUND",
]);

async function listen(
  app: FastifyInstance,
  { host, port }: Config["http"],
): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw toListenError(error as NodeJS.ErrnoException, host, port);
  }
}

function toListenError(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
): Error {
  const invalid = (where: string, reason: string) =>
    new XoError("CONFIG_INVALID", { where, reason }, error);
  if (error.code === "EADDRINUSE")
    return new XoError("PORT_IN_USE", { host, port }, error);
  if (error.code === "EACCES")
    return invalid("http.port", `this user may not listen on port ${port}`);
  if (NOT_OUR_ADDRESS.has(error.code ?? ""))
    return invalid("http.host", `${host} is not an address of this machine`);
  return error;
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

async function addPage(
  app: FastifyInstance,
  webRoot: string | undefined,
): Promise<void> {
  if (webRoot === undefined) {
    app.get("/", async (_request, reply) =>
      reply
        .code(503)
        .type("text/plain; charset=utf-8")
        .send("The web page has not been built yet: npm run build\n"),
    );
    return;
  }
  await app.register(fastifyStatic, {
    root: webRoot,
    cacheControl: false,
    setHeaders(reply, path) {
      // Vite puts a digest of the content into the names of assets, and into no other.
      const isNamedByContent = /[\\/]assets[\\/]/.test(path);
      reply.setHeader(
        "cache-control",
        isNamedByContent ? "public, max-age=31536000, immutable" : "no-cache",
      );
    },
  });
}

function addErrors(
  app: FastifyInstance,
  { logger }: Pick<WebServerOptions, "logger">,
): void {
  app.setNotFoundHandler(async (request) => {
    throw new XoError("NO_SUCH_OBJECT", { type: "page", id: request.url });
  });
  app.setErrorHandler(async (error: FastifyError | XoError, request, reply) => {
    if (error instanceof XoError) {
      const { code, message, data } = error;
      return reply.code(errorTable[code].http).send({ code, message, data });
    }
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
