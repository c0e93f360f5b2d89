import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../clock.js";
import type { Logger } from "../../log/logger.js";
import type { Objects } from "../../objects/start-objects.js";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Operation, Permission } from "../../operations/operation.js";
import type { Authenticator } from "../../auth/authenticator.js";
import type { LimitHits } from "../limit-hits.js";
import { outerOf } from "../outer.js";
import { DATA_POLICY } from "../security-headers.js";
import { Admission } from "./admission.js";
import { toCaller } from "./caller.js";
import { addCollectionRoutes } from "./collection-routes.js";
import { readCredentials } from "./credentials.js";
import { addDocs } from "./docs.js";
import { addEventRoutes } from "./events/event-routes.js";
import { addSignInRoutes } from "../sign-in/sign-in-routes.js";
import { addJsonBodies } from "./json-bodies.js";
import { addLoginRoute } from "./login-route.js";
import { addLogoutRoute } from "./logout-route.js";
import { addOperationRoutes } from "./operation-routes.js";
import { collectMethods, refuseOtherMethods } from "./other-methods.js";
import { addPublicRoutes } from "./public-routes.js";
import { readText } from "./query-values.js";
import { addTagRoutes } from "./tag-routes.js";
import { addTaskRoutes } from "./task-routes.js";
import type { Tasks } from "../../tasks/tasks.js";
import type { OneTimePaths } from "../one-time-paths.js";
import { addBinaryRoutes } from "./binary-routes.js";
import { toRestError } from "./rest-error.js";
import { restOperations } from "./rest-operation.js";
import { REST_ROOT } from "./rest-path.js";
import { queryOf, setCaller } from "./rest-request.js";

export interface RestDoorOptions {
  readonly objects: Pick<Objects, "catalog" | "queries">;
  readonly operations: readonly Operation[];
  readonly dispatcher: Dispatcher;
  /** Undefined: nobody can sign in. */
  readonly authenticator?: Authenticator | undefined;
  /** Undefined: nothing is done to objects here. */
  readonly tasks?: Tasks | undefined;
  /** Undefined: no bytes are carried here. */
  readonly paths?: OneTimePaths | undefined;
  /** Of callers who have not signed in. */
  readonly permission: Permission;
  readonly maxRequestsPerSecond: number;
  readonly maxRequestsPerUserPerSecond: number;
  readonly maxBufferedBytes: number;
  readonly maxDepth: number;
  readonly maxEventStreams: number;
  readonly maxEventStreamsPerUser: number;
  readonly hits: LimitHits;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The REST API, under /rest/v0, and the sign-in of its clients. */
export async function addRest(
  app: FastifyInstance,
  options: RestDoorOptions,
): Promise<void> {
  const { dispatcher, authenticator, permission: anonymous } = options;
  const admission = new Admission(options);
  const dress = (door: FastifyInstance) => {
    addJsonBodies(door, options);
    addErrors(door, options);
    door.addHook("onRequest", async (request, reply) => {
      reply.header("cache-control", "no-store");
      reply.header("content-security-policy", DATA_POLICY);
      admission.admit(request);
    });
  };
  const login = { authenticator, anonymous, dispatcher };
  await app.register(async (door) => {
    dress(door);
    addLoginRoute(door, login);
    addSignInRoutes(door, { ...login, clock: options.clock });
  });
  await app.register(
    async (door) => {
      dress(door);
      const declared = collectMethods(door);
      addLoginRoute(door, login);
      addAuthentication(door, { authenticator, anonymous, admission });
      addNotFound(door);
      addRoutes(door, options);
      refuseOtherMethods(door, declared);
    },
    { prefix: REST_ROOT },
  );
}

function addRoutes(door: FastifyInstance, options: RestDoorOptions): void {
  const { objects, dispatcher, tasks } = options;
  const operations = restOperations(options.operations);
  addPublicRoutes(door, options.clock);
  addLogoutRoute(door, dispatcher);
  addDocs(door, operations, tasks !== undefined);
  addCollectionRoutes(door, objects);
  const parts = { objects, dispatcher, tasks };
  addOperationRoutes(door, operations, parts);
  if (options.paths !== undefined)
    addBinaryRoutes(door, operations, { ...parts, paths: options.paths });
  addEventRoutes(door, options);
  if (tasks === undefined) return;
  addTaskRoutes(door, { objects, tasks, dispatcher });
  addTagRoutes(door, objects, dispatcher);
}

function addAuthentication(
  door: FastifyInstance,
  parts: Pick<RestDoorOptions, "authenticator"> & {
    readonly anonymous: Permission;
    readonly admission: Admission;
  },
): void {
  const { authenticator, anonymous, admission } = parts;
  door.addHook("onRequest", async (request) => {
    const otp = readText(queryOf(request), "otp");
    const shown = readCredentials(request.headers, otp);
    const who = { authenticator, anonymous };
    const caller = await toCaller(shown, outerOf(request.raw).address, who);
    admission.admitUser(caller.context.user?.id);
    setCaller(request, caller);
  });
}

/** A route of its own: the page's files, which are looked for everywhere else, have another way to say it. */
function addNotFound(door: FastifyInstance): void {
  const refuse = async ({ method, url }: FastifyRequest) => {
    throw new XoError("NO_SUCH_OBJECT", {
      type: "route",
      id: `${method} ${url.split("?")[0]}`,
    });
  };
  door.setNotFoundHandler(refuse);
  door.all("/*", refuse);
}

function addErrors(
  door: FastifyInstance,
  { logger, hits }: Pick<RestDoorOptions, "logger" | "hits">,
): void {
  door.setErrorHandler(async (error: Error, request, reply) => {
    hits.countError(error);
    const known = toRestError(error);
    if (known === undefined)
      logger.error(`${request.method} ${request.url} failed`, { error });
    const { status, body } = known ?? {
      status: 500,
      body: { error: "internal error" },
    };
    return addHints(reply, error, status).code(status).send(body);
  });
}

function addHints(
  reply: FastifyReply,
  error: Error,
  status: number,
): FastifyReply {
  if (status === 401) reply.header("www-authenticate", 'Basic realm="xo"');
  const ms = error instanceof XoError ? error.data["retryAfterMs"] : undefined;
  if (typeof ms === "number")
    reply.header("retry-after", Math.max(1, Math.ceil(ms / 1000)));
  return reply.type("application/json; charset=utf-8");
}
