import type { ViewObject } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Operation } from "../../operations/operation.js";
import type { RestRoute } from "../../operations/rest-route.js";
import { RawJson } from "../raw-json.js";
import { readObjects } from "./collection-pages.js";
import { readCollectionQuery } from "./collection-query.js";
import { collections } from "./collections.js";
import { collectParameters, toInputError } from "./operation-parameters.js";
import { callerOf, queryOf } from "./rest-request.js";
import { toHref } from "./rest-path.js";
import { sendList } from "./send-list.js";

export type RestOperation = Operation & { readonly rest: RestRoute };

export function restOperations(
  operations: readonly Operation[],
): readonly RestOperation[] {
  return operations.filter(
    (operation): operation is RestOperation => operation.rest !== undefined,
  );
}

/** Routes of the operations that say that they have one. */
export function addOperationRoutes(
  app: FastifyInstance,
  operations: readonly RestOperation[],
  dispatcher: Dispatcher,
): void {
  for (const operation of operations) {
    const { method, path, isAction } = operation.rest;
    if (isAction === true)
      throw new XoError("UNSUPPORTED", {
        what: operation.name,
        reason: "the REST API has no tasks yet",
      });
    app.route({
      method: method.toUpperCase(),
      url: path.replace(/\{(\w+)\}/g, ":$1"),
      handler: (request, reply) =>
        answer(operation, operations, dispatcher, { request, reply }),
    });
  }
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function answer(
  operation: RestOperation,
  operations: readonly RestOperation[],
  dispatcher: Dispatcher,
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const { context } = callerOf(request);
  const query = queryOf(request);
  // Before anything is done.
  const list = isList(operation) ? readCollectionQuery(query) : undefined;
  const path = withMe(request.params as Record<string, string>, operation, {
    me: context.person?.id,
  });
  const given = { path, query, body: request.body };
  const result = await dispatcher
    .call(operation.name, collectParameters(operation, given), context)
    .catch((error: unknown) => {
      throw toInputError(error, operation, query);
    });
  if (list === undefined || !Array.isArray(result))
    return send(reply, operation, result);
  const noun = nounOf(operation.rest);
  const objects = result as readonly ViewObject[];
  const href = (object: ViewObject) => toHref(noun, String(object["id"]));
  // What cannot be fetched by itself is told at once.
  const fields = hasObjects(noun, operations) ? list.fields : "*";
  return sendList(reply, readObjects(objects, href, list), { ...list, fields });
}

/** `/users/me` is whoever asks. */
function withMe(
  path: Readonly<Record<string, string>>,
  { rest }: RestOperation,
  { me }: { readonly me: string | undefined },
): Readonly<Record<string, string>> {
  const isMe = rest.path.startsWith("/users/{id}") && path["id"] === "me";
  return isMe && me !== undefined ? { ...path, id: me } : path;
}

export function isList({ rest, result }: RestOperation): boolean {
  const { type } = result as { readonly type?: unknown };
  return rest.method === "get" && type === "array";
}

/** The folder that the path names: `users` for `/groups/{id}/users`. */
export function nounOf({ path }: RestRoute): string {
  const parts = path.split("/").filter((part) => !part.startsWith("{"));
  return parts.at(-1) ?? "";
}

function hasObjects(
  noun: string,
  operations: readonly RestOperation[],
): boolean {
  return (
    collections.some(({ name }) => name === noun) ||
    operations.some(
      ({ rest }) => rest.method === "get" && rest.path.startsWith(`/${noun}/{`),
    )
  );
}

function send(
  reply: FastifyReply,
  { rest }: RestOperation,
  result: unknown,
): FastifyReply {
  const status = rest.status ?? (result === true ? 204 : 200);
  reply.code(status);
  if (status === 204) return reply.send();
  reply.type("application/json; charset=utf-8");
  if (result instanceof RawJson) return reply.send(result.bytes);
  if (status === 200) return reply.send(JSON.stringify(result));
  const created = typeof result === "string" ? { id: result } : result;
  const { id } = created as { readonly id?: unknown };
  if (typeof id === "string")
    reply.header("location", toHref(nounOf(rest), id));
  return reply.send(JSON.stringify(created));
}
