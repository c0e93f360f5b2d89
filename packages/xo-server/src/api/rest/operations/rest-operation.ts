import type { Operation } from "../../../operations/operation.js";
import type { RestRoute } from "../../../operations/rest-route.js";
import { collections, type Collection } from "../collections/collections.js";

/** An operation together with one of its REST routes. */
export type RestOperation = Omit<Operation, "rest"> & {
  readonly rest: RestRoute;
};

/** One entry for each route; operations without REST routes are left out. */
export function restOperations(
  operations: readonly Operation[],
): readonly RestOperation[] {
  return operations.flatMap((operation) => routesOf(operation));
}

function routesOf({ rest, ...operation }: Operation): RestOperation[] {
  if (rest === undefined) return [];
  const routes = "path" in rest ? [rest] : rest;
  return routes.map((route) => ({ ...operation, rest: route }));
}

/**
 * Whether the response is a collection, which has the query parameters `fields`,
 * `filter` and `limit`.
 */
export function isList({ rest, result }: RestOperation): boolean {
  const { type } = result as { readonly type?: unknown };
  return rest.method === "get" && type === "array";
}

/** The last collection in the path: `users` for `/groups/{id}/users`. */
export function collectionNameOf({ path }: RestRoute): string {
  const parts = path.split("/").filter((part) => !part.startsWith("{"));
  return parts.at(-1) ?? "";
}

/** The object in the first segments of a path. */
interface Subject {
  readonly collection: Collection;
  /** Path parameter that contains its id. */
  readonly parameter: string;
}

/** @returns undefined: the path does not begin with an object of the catalog */
export function subjectOf({ path }: RestRoute): Subject | undefined {
  const [, folder, parameter] = /^\/([^/]+)\/\{(\w+)\}/.exec(path) ?? [];
  const collection = collections.find(({ name }) => name === folder);
  return collection === undefined
    ? undefined
    : { collection, parameter: parameter! };
}

/** The path in the OpenAPI document, where the first object is always `{id}`. */
export function shownPath(rest: RestRoute): string {
  const subject = subjectOf(rest);
  return subject === undefined
    ? rest.path
    : rest.path.replace(`{${subject.parameter}}`, "{id}");
}
