import { XoError } from "@xo-server/model";
import type { FastifyInstance, FastifyReply } from "fastify";
import { PATH_PREFIX } from "../../../transfers/one-time-path.js";
import type { OneTimePaths } from "../../../transfers/one-time-paths.js";
import {
  addStreamBodies,
  readRange,
  receiveUpload,
  sendDownload,
  takeOffer,
} from "../../transfers/transfer-exchange.js";
import { toInputError } from "./operation-parameters.js";
import {
  readOperationRequest,
  type OperationParts,
} from "./operation-request.js";
import { collectionNameOf, type RestOperation } from "./rest-operation.js";
import { toHref } from "../routing/rest-path.js";
import {
  callerOf,
  queryOf,
  type RestExchange,
} from "../routing/rest-request.js";
import type { RouteTable } from "../routing/route-table.js";

interface Parts extends OperationParts {
  readonly operations: readonly RestOperation[];
  readonly paths: OneTimePaths;
}

/**
 * Adds routes whose bodies are bytes: the transfer that the operation offers starts
 * immediately. These are routes of Fastify itself, because they parse bodies
 * differently from the rest of the API.
 * @param routes the table in which their methods are registered for 405 responses
 */
export function addBinaryRoutes(
  app: FastifyInstance,
  routes: RouteTable,
  parts: Parts,
): void {
  app.register(async (binary) => {
    addStreamBodies(binary);
    for (const operation of parts.operations) {
      const { method, path, isTransfer } = operation.rest;
      if (isTransfer !== true) continue;
      const verbs = method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()];
      for (const verb of verbs) routes.add(verb, path, undefined);
      binary.route({
        method: method.toUpperCase(),
        url: path.replace(/\{(\w+)\}/g, ":$1"),
        handler: (request, reply) =>
          answer(operation, parts, { request, reply }),
      });
    }
  });
}

async function answer(
  operation: RestOperation,
  parts: Parts,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const { params } = await readOperationRequest(operation, parts, request);
  const offered = await parts.dispatcher
    .call(operation.name, params, {
      ...callerOf(request).context,
      takesPathAtOnce: true,
    })
    .catch((error: unknown) => {
      throw toInputError(error, operation, queryOf(request));
    });
  const { kind, token } = toOffer(offered);
  if (kind === "download") {
    const open = await takeOffer(parts.paths, token, kind);
    return sendDownload(reply, await open(readRange(request)));
  }
  const receive = await takeOffer(parts.paths, token, kind);
  const result = await receiveUpload(request, receive);
  if (typeof result !== "string") return reply.code(204).send();
  const folder = operation.rest.creates ?? collectionNameOf(operation.rest);
  return reply
    .code(201)
    .header("location", toHref(folder, result))
    .send({ id: result });
}

function toOffer(offered: unknown): {
  readonly kind: "download" | "upload";
  readonly token: string;
} {
  const { $getFrom, $sendTo } = offered as Readonly<Record<string, string>>;
  const path = $getFrom ?? $sendTo;
  if (path === undefined)
    throw new XoError("INTERNAL", {
      reason: "the operation returned no transfer path",
    });
  const [token = ""] = path.slice(PATH_PREFIX.length).split("/");
  return { kind: $getFrom === undefined ? "upload" : "download", token };
}
