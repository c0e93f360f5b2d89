import type { FastifyRequest } from "fastify";
import type { Dispatcher } from "../../../operations/dispatcher.js";
import { collections, type Collection } from "./collections.js";
import { findObject, type ObjectSources } from "./find-object.js";
import { callerOf, pathParameter } from "../routing/rest-request.js";
import type { RouteTable } from "../routing/route-table.js";

/** Collections whose objects have tags. */
export const taggedCollections: readonly Collection[] = collections.filter(
  ({ example }) => Array.isArray(example["tags"]),
);

/** `PUT` and `DELETE /vms/{id}/tags/{tag}`. */
export function addTagRoutes(
  routes: RouteTable,
  objects: ObjectSources,
  dispatcher: Dispatcher,
): void {
  for (const collection of taggedCollections) {
    const change = async (name: string, request: FastifyRequest) => {
      const { context, rights } = callerOf(request);
      const input = pathParameter(request, "id");
      const { id } = await findObject(objects, collection, input, rights());
      const tag = pathParameter(request, "tag");
      await dispatcher.call(name, { id, tag }, context);
    };
    const path = `/${collection.name}/{id}/tags/{tag}`;
    routes.put(path, async (request, reply) => {
      await change("tag.add", request);
      return reply.code(204).send();
    });
    routes.delete(path, async (request, reply) => {
      await change("tag.remove", request);
      return reply.code(204).send();
    });
  }
}
