import { XoError } from "@xo-server/model";
import { createDisconnectSignal } from "../../authentication/disconnect-signal.js";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dispatcher } from "../../../operations/dispatcher.js";
import { toTaskReader, type TaskReader } from "../../../tasks/task-changes.js";
import type { TaskQuery } from "../../../tasks/task-query.js";
import type { Tasks } from "../../../tasks/tasks.js";
import { readListQuery } from "../lists/list-query.js";
import { collections } from "../collections/collections.js";
import { findObject, type ObjectSources } from "../collections/find-object.js";
import { readBoolean } from "../routing/query-values.js";
import {
  callerOf,
  pathParameter,
  queryOf,
  type RestExchange,
} from "../routing/rest-request.js";
import type { RouteTable } from "../routing/route-table.js";
import { sendList } from "../lists/send-list.js";
import { readTasks } from "./task-pages.js";
import { TaskWatches } from "./task-watches.js";

interface TaskRoutesParts {
  readonly objects: ObjectSources;
  readonly tasks: Tasks;
  readonly dispatcher: Dispatcher;
  /** Registers a function that is called before the server closes its connections. */
  readonly onClose: (stop: () => void) => void;
}

/** Routes of the server's own tasks, as opposed to XAPI tasks. */
export function addTaskRoutes(
  routes: RouteTable,
  { objects, tasks, dispatcher, onClose }: TaskRoutesParts,
): void {
  const watches = new TaskWatches(tasks);
  onClose(() => {
    watches.stop();
  });
  routes.get("/tasks", async (request, reply) => {
    if (!readBoolean(queryOf(request), "watch"))
      return send(tasks, {}, { request, reply });
    watches.open({ request, reply }, readerOf(request));
    return reply;
  });
  routes.get("/tasks/{id}", async (request, reply) => {
    const id = pathParameter(request, "id");
    const wait = readBoolean(queryOf(request), "wait")
      ? { signal: createDisconnectSignal(reply) }
      : undefined;
    const task = await tasks.get(id, readerOf(request), wait);
    if (task === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "task", id });
    return task;
  });
  for (const collection of collections.filter(
    ({ subCollections }) => subCollections.length > 0,
  ))
    routes.get(`/${collection.name}/{id}/tasks`, async (request, reply) => {
      const rights = callerOf(request).rights();
      const id = pathParameter(request, "id");
      const entry = await findObject(objects, collection, id, rights);
      return send(tasks, { objectId: entry.id }, { request, reply });
    });
  for (const [folder, operation] of accountCollections)
    routes.get(`/${folder}/{id}/tasks`, async (request, reply) => {
      const { context } = callerOf(request);
      const id = pathParameter(request, "id");
      const isMe = folder === "users" && id === "me";
      const objectId = isMe ? (context.user?.id ?? id) : id;
      // Throws if the object does not exist or the caller may not read it.
      if (objectId !== context.user?.id)
        await dispatcher.call(operation, { id: objectId }, context);
      return send(tasks, { objectId }, { request, reply });
    });
}

/** Collections of accounts and servers: name, operation that reads one object, OpenAPI operation id. */
export const accountCollections: readonly (readonly [
  string,
  string,
  string,
])[] = [
  ["users", "user.get", "GetUserTasks"],
  ["groups", "group.get", "GetGroupTasks"],
  ["servers", "server.get", "GetServerTasks"],
];

function send(
  tasks: Tasks,
  about: TaskQuery,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const query = readListQuery(queryOf(request));
  const pages = readTasks(tasks.list(readerOf(request), about), query);
  return sendList(reply, pages, query);
}

/** Anonymous clients have no tasks. */
function readerOf(request: FastifyRequest): TaskReader {
  const { context, rights } = callerOf(request);
  rights();
  return toTaskReader(context.user);
}
