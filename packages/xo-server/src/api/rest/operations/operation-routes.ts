import type { ViewObject } from "@xo-server/inventory";
import type { FastifyReply } from "fastify";
import type { RestRoute } from "../../../operations/rest-route.js";
import { RawJson } from "../../../encoding/raw-json.js";
import { startAction } from "./action-response.js";
import { readObjects } from "../collections/collection-pages.js";
import { readListQuery } from "../lists/list-query.js";
import { collections } from "../collections/collections.js";
import { toInputError } from "./operation-parameters.js";
import {
  readOperationRequest,
  type OperationParts,
} from "./operation-request.js";
import {
  isList,
  collectionNameOf,
  type RestOperation,
} from "./rest-operation.js";
import {
  callerOf,
  queryOf,
  type RestExchange,
} from "../routing/rest-request.js";
import { readBoolean } from "../routing/query-values.js";
import { toHref } from "../routing/rest-path.js";
import type { RouteHandler, RouteTable } from "../routing/route-table.js";
import { sendList } from "../lists/send-list.js";

/** Adds the routes of all operations that declare one. */
export function addOperationRoutes(
  routes: RouteTable,
  operations: readonly RestOperation[],
  parts: OperationParts,
): void {
  const folders = new Set(
    operations
      .filter(({ rest }) => rest.method === "get")
      .map(({ rest }) => /^\/([^/]+)\/\{/.exec(rest.path)?.[1])
      .concat(collections.map(({ name }) => name)),
  );
  for (const operation of operations) {
    const { method, path, isAction = false, isTransfer } = operation.rest;
    // See binary-routes.ts.
    if (isTransfer === true) continue;
    // Without tasks the outcome of an action could not be reported.
    if (isAction && parts.tasks === undefined) continue;
    const handler: RouteHandler = (request, reply) =>
      isAction
        ? startAction(operation, parts, { request, reply })
        : answer(operation, { ...parts, folders }, { request, reply });
    if (method === "get") routes.get(path, handler);
    else routes.add(method.toUpperCase(), path, handler);
  }
}

interface Parts extends OperationParts {
  /** Collections with a route for single objects. */
  readonly folders: ReadonlySet<string | undefined>;
}

async function answer(
  operation: RestOperation,
  parts: Parts,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const query = queryOf(request);
  // Validated before the operation runs.
  const list = isList(operation) ? readListQuery(query) : undefined;
  const isLines =
    operation.rest.hasLines === true && readBoolean(query, "ndjson");
  const { params } = await readOperationRequest(operation, parts, request);
  const result = await parts.dispatcher
    .call(operation.name, params, callerOf(request).context)
    .catch((error: unknown) => {
      throw toInputError(error, operation, query);
    });
  if (isLines) return sendLines(reply, result as object);
  if (list === undefined || !Array.isArray(result))
    return send(reply, operation.rest, result);
  const noun = collectionNameOf(operation.rest);
  const objects = result as readonly ViewObject[];
  // `servers` of a cluster have names, while `servers/{id}` of the API is a pool
  // connection: no link.
  const href = ({ id }: ViewObject) =>
    typeof id === "string" ? toHref(noun, id) : undefined;
  const isLinked =
    parts.folders.has(noun) &&
    objects.every(({ id }) => typeof id === "string");
  // Objects without a route of their own are sent with all fields.
  const fields = isLinked ? list.fields : "*";
  return sendList(reply, readObjects(objects, href, list), { ...list, fields });
}

/** Clients merge the lines, which are objects with one member each. */
function sendLines(reply: FastifyReply, result: object): FastifyReply {
  const lines = Object.entries(result).map(
    ([key, value]) => `${JSON.stringify({ [key]: value as unknown })}\n`,
  );
  return reply.type("application/x-ndjson").send(Buffer.from(lines.join("")));
}

function send(
  reply: FastifyReply,
  rest: RestRoute,
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
    reply.header(
      "location",
      toHref(rest.creates ?? collectionNameOf(rest), id),
    );
  return reply.send(JSON.stringify(created));
}
