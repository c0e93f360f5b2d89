import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readObjects } from "./collection-pages.js";
import { readCollectionQuery } from "./collection-query.js";
import { collections } from "./collections.js";
import { findObject, type ObjectSources } from "./find-object.js";
import { readBoolean } from "./query-values.js";
import { callerOf, pathParameter, queryOf } from "./rest-request.js";
import { toHref } from "./rest-path.js";
import { sendList } from "./send-list.js";
import type { Tasks, TaskReader, TaskView } from "../../tasks/tasks.js";

/** Our tasks, which are not those of XAPI. */
export function addTaskRoutes(
  door: FastifyInstance,
  { objects, tasks }: { objects: ObjectSources; tasks: Tasks },
): void {
  door.get("/tasks", async (request, reply) => {
    if (readBoolean(queryOf(request), "watch"))
      throw new XoError("UNSUPPORTED", {
        what: "watch",
        reason: "ask again, or wait for one task",
      });
    return send(await tasks.list(readerOf(request)), { request, reply });
  });
  door.get("/tasks/:id", async (request) => {
    const id = pathParameter(request, "id");
    const wait = readBoolean(queryOf(request), "wait");
    const task = await tasks.get(id, readerOf(request), wait);
    if (task === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "task", id });
    return task;
  });
  for (const collection of collections.filter(
    ({ subCollections }) => subCollections.length > 0,
  ))
    door.get(`/${collection.name}/:id/tasks`, async (request, reply) => {
      const rights = callerOf(request).rights();
      const id = pathParameter(request, "id");
      const entry = await findObject(objects, collection, id, rights);
      const about = { objectId: entry.id };
      const found = await tasks.list(readerOf(request), about);
      return send(found, { request, reply });
    });
}

async function send(
  tasks: readonly TaskView[],
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const query = readCollectionQuery(queryOf(request));
  const href = ({ id }: { id?: unknown }) => toHref("tasks", String(id));
  return sendList(reply, readObjects(tasks, href, query), query);
}

/** Who has not signed in has none. */
function readerOf(request: FastifyRequest): TaskReader {
  const { context, rights } = callerOf(request);
  rights();
  return context.person ?? { id: "", isAdmin: false };
}
