import type { CatalogEntry } from "@xo-server/inventory";
import type { FastifyRequest } from "fastify";
import type { Dispatcher } from "../../../operations/dispatcher.js";
import type { Tasks } from "../../../tasks/tasks.js";
import { findObject, type ObjectSources } from "../collections/find-object.js";
import { collectParameters } from "./operation-parameters.js";
import { subjectOf, type RestOperation } from "./rest-operation.js";
import { callerOf, queryOf } from "../routing/rest-request.js";

export interface OperationParts {
  readonly objects: ObjectSources;
  readonly dispatcher: Dispatcher;
  /** Undefined: the API has no actions, tasks and tags. */
  readonly tasks?: Tasks | undefined;
}

interface OperationRequest {
  readonly params: object;
  /** The object of the first path segments, such as `/vms/{id}`. */
  readonly entry: CatalogEntry | undefined;
}

/** @throws XoError INVALID_PARAMETERS; NO_SUCH_OBJECT: not in the collection of the path */
export async function readOperationRequest(
  operation: RestOperation,
  { objects }: OperationParts,
  request: FastifyRequest,
): Promise<OperationRequest> {
  const { context, rights } = callerOf(request);
  const subject = subjectOf(operation.rest);
  const path = withMe(request.params as Record<string, string>, operation, {
    me: context.user?.id,
  });
  const { isTransfer = false } = operation.rest;
  const body = isTransfer ? undefined : request.body;
  const input = { query: queryOf(request), body };
  if (subject === undefined)
    return {
      params: collectParameters(operation, { ...input, path }),
      entry: undefined,
    };
  const { collection, parameter } = subject;
  const id = path[parameter] ?? "";
  const entry = await findObject(objects, collection, id, rights());
  const found = { ...path, [parameter]: entry.id };
  return {
    params: collectParameters(operation, { ...input, path: found }),
    entry,
  };
}

/** Replaces `me` in `/users/me` by the id of the current user. */
function withMe(
  path: Readonly<Record<string, string>>,
  { rest }: RestOperation,
  { me }: { readonly me: string | undefined },
): Readonly<Record<string, string>> {
  const isMe = rest.path.startsWith("/users/{id}") && path["id"] === "me";
  return isMe && me !== undefined ? { ...path, id: me } : path;
}
