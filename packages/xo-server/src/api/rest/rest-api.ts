import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
} from "fastify";
import type { Logger } from "../../log/logger.js";
import type { Objects } from "../../objects/start-objects.js";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Operation, Permission } from "../../operations/operation.js";
import type { Authenticator } from "../../auth/sign-in/authenticator.js";
import type { LimitHits } from "../../limits/limit-hits.js";
import { DATA_POLICY } from "../http/security-headers.js";
import { Admission } from "./routing/admission.js";
import {
  renewCaller,
  toCaller,
  type Caller,
} from "../authentication/caller.js";
import { addCollectionRoutes } from "./collections/collection-routes.js";
import { createDisconnectSignal } from "../authentication/disconnect-signal.js";
import { readCredentials } from "../authentication/credentials.js";
import { addDocs } from "./open-api/docs-routes.js";
import { addEventRoutes } from "./events/event-routes.js";
import { addSignInRoutes } from "../authentication/sign-in-routes.js";
import { addJsonBodies } from "./routing/json-bodies.js";
import { createLoginHandler, LOGIN_PATH } from "./session/login-route.js";
import { admittedUses } from "./session/admitted-uses.js";
import { addLogoutRoute } from "./session/logout-route.js";
import { addOperationRoutes } from "./operations/operation-routes.js";
import { addPublicRoutes } from "./session/public-routes.js";
import { readText } from "./routing/query-values.js";
import { addTagRoutes } from "./collections/tag-routes.js";
import { addTaskRoutes } from "./tasks/task-routes.js";
import type { Tasks } from "../../tasks/tasks.js";
import type { OneTimeSeals } from "../../auth/sessions/one-time-seals.js";
import type { OneTimePaths } from "../../transfers/one-time-paths.js";
import { addBinaryRoutes } from "./operations/binary-routes.js";
import { toRestError } from "../errors/rest-error.js";
import { restOperations } from "./operations/rest-operation.js";
import { isSentByPage } from "./session/sent-by-page.js";
import { REST_ROOT } from "./routing/rest-path.js";
import { callerOf, decorateRequests, queryOf } from "./routing/rest-request.js";
import { RouteTable, type RouteHandler } from "./routing/route-table.js";
import { parseTraceparent } from "../../telemetry/trace-context.js";

export interface RestApiOptions {
  readonly objects: Pick<Objects, "catalog" | "queries" | "loadedPools">;
  readonly operations: readonly Operation[];
  readonly dispatcher: Dispatcher;
  /** Undefined: sign-in is not available. */
  readonly authenticator?: Authenticator | undefined;
  /** Undefined: users cannot sign in at a provider. */
  readonly seals?: OneTimeSeals | undefined;
  /** Undefined: the API has no actions, tasks and tags. */
  readonly tasks?: Tasks | undefined;
  /** Undefined: the API has no uploads and downloads. */
  readonly paths?: OneTimePaths | undefined;
  /** Permission of anonymous clients. */
  readonly permission: Permission;
  readonly maxRequestsPerSecond: number;
  readonly maxRequestsPerUserPerSecond: number;
  readonly maxBufferedBytes: number;
  readonly maxDepth: number;
  readonly maxEventStreams: number;
  readonly maxEventStreamsPerUser: number;
  readonly hits: LimitHits;
  readonly clock: WallClock;
  readonly logger: Logger;
}

/** Adds the REST API under /rest/v0, and the sign-in of its clients. */
export async function addRestApi(
  app: FastifyInstance,
  options: RestApiOptions,
): Promise<void> {
  const { dispatcher, authenticator, permission: anonymous } = options;
  const admission = new Admission(options);
  const addCommonParts = (rest: FastifyInstance) => {
    addJsonBodies(rest, options);
    addErrors(rest, options);
    rest.addHook("onRequest", async (request, reply) => {
      reply.header("cache-control", "no-store");
      reply.header("content-security-policy", DATA_POLICY);
      admission.admit(request);
    });
  };
  const login = { authenticator, anonymous, dispatcher };
  const logIn = createLoginHandler(login);
  await app.register(async (rest) => {
    addCommonParts(rest);
    rest.post(LOGIN_PATH, logIn);
    if (options.seals !== undefined)
      addSignInRoutes(rest, { ...login, seals: options.seals });
  });
  await app.register(
    async (rest) => {
      addCommonParts(rest);
      decorateRequests(rest);
      addAuthentication(rest, { authenticator, anonymous, admission });
      const routes = new RouteTable();
      routes.post(LOGIN_PATH, logIn);
      addRoutes(rest, routes, options);
      serve(rest, routes);
    },
    { prefix: REST_ROOT },
  );
}

function addRoutes(
  rest: FastifyInstance,
  routes: RouteTable,
  options: RestApiOptions,
): void {
  const { objects, dispatcher, tasks, paths } = options;
  const operations = restOperations(options.operations);
  const onClose = (stop: () => void) => {
    rest.addHook("preClose", async () => {
      stop();
    });
  };
  addPublicRoutes(routes, options.clock);
  addLogoutRoute(routes, dispatcher);
  addDocs(routes, operations, tasks !== undefined);
  addCollectionRoutes(routes, objects);
  const parts = { objects, dispatcher, tasks };
  addOperationRoutes(routes, operations, parts);
  if (paths !== undefined)
    addBinaryRoutes(rest, routes, { ...parts, operations, paths });
  addEventRoutes(routes, { ...options, onClose });
  if (tasks === undefined) return;
  addTaskRoutes(routes, { objects, tasks, dispatcher, onClose });
  addTagRoutes(routes, objects, dispatcher);
}

function addAuthentication(
  rest: FastifyInstance,
  parts: Pick<RestApiOptions, "authenticator"> & {
    readonly anonymous: Permission;
    readonly admission: Admission;
  },
): void {
  const { authenticator, anonymous, admission } = parts;
  rest.addHook("onRequest", async (request, reply) => {
    const { isSignIn, ...uses } = admittedUses(request);
    const otp = readText(queryOf(request), "otp");
    const credentials = readCredentials(isSignIn ? {} : request.headers, otp);
    const caller = await toCaller(credentials, request.clientAddress.address, {
      authenticator,
      anonymous,
      ...uses,
      disconnected:
        credentials.kind === "password"
          ? createDisconnectSignal(reply)
          : undefined,
    });
    admission.admitUser(caller.context.user?.id);
    request.caller = withTrace(caller, request.headers["traceparent"]);
  });
  // The body has arrived, perhaps much later.
  rest.addHook("preHandler", async (request) => {
    const { admitsSetUp } = admittedUses(request);
    const caller = callerOf(request);
    request.caller = renewCaller(caller, { anonymous, admitsSetUp });
  });
}

function withTrace(caller: Caller, traceparent: unknown): Caller {
  const trace = parseTraceparent(traceparent);
  return trace === undefined
    ? caller
    : { ...caller, context: { ...caller.context, trace } };
}

/**
 * Serves the routes of the table by one wildcard route. The route is found in an
 * `onRequest` hook, so that the body of a request without a route is not read.
 */
function serve(rest: FastifyInstance, routes: RouteTable): void {
  // Not async: an awaited reply is fulfilled when its client disconnects, and the request would continue.
  const find: onRequestHookHandler = (request, reply, next) => {
    const path = request.url.split("?")[0]!;
    const route = routes.find(request.method, path.slice(REST_ROOT.length));
    if (route === undefined) {
      refuse(request, reply);
      return;
    }
    request.routeHandler = route.handler;
    request.params = route.params;
    next();
  };
  const refuse = (
    { method, url }: FastifyRequest,
    reply: FastifyReply,
  ): void => {
    const path = url.split("?")[0]!;
    const allowed = routes.methodsOf(path.slice(REST_ROOT.length));
    if (allowed.length > 0 && !allowed.includes(method)) {
      const allow = allowed.join(", ");
      void reply
        .code(405)
        .header("allow", allow)
        .type("application/json; charset=utf-8")
        .send({ error: `method not allowed, use ${allow}` });
      return;
    }
    void reply.send(
      new XoError("NO_SUCH_OBJECT", { type: "route", id: `${method} ${path}` }),
    );
  };
  const handler: RouteHandler = (request, reply) =>
    request.routeHandler!(request, reply);
  for (const url of ["", "/*"]) rest.all(url, { onRequest: find }, handler);
  rest.setNotFoundHandler(refuse);
}

function addErrors(
  rest: FastifyInstance,
  { logger, hits }: Pick<RestApiOptions, "logger" | "hits">,
): void {
  rest.setErrorHandler(async (error: Error, request, reply) => {
    hits.countError(error);
    const known = toRestError(error);
    if (known === undefined)
      logger.error(`${request.method} ${request.url} failed`, { error });
    const { status, body } = known ?? {
      status: 500,
      body: { error: "internal error" },
    };
    if (status === 401 && !isSentByPage(request.headers))
      reply.header("www-authenticate", 'Basic realm="xo"');
    return addHints(reply, error).code(status).send(body);
  });
}

function addHints(reply: FastifyReply, error: Error): FastifyReply {
  const ms = error instanceof XoError ? error.data["retryAfterMs"] : undefined;
  if (typeof ms === "number")
    reply.header("retry-after", Math.max(1, Math.ceil(ms / 1000)));
  return reply.type("application/json; charset=utf-8");
}
