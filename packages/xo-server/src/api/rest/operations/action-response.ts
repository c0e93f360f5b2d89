import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogEntry } from "@xo-server/inventory";
import { XapiError } from "@xo-server/model";
import type { FastifyReply } from "fastify";
import { FoundObject } from "../../../objects/found-object.js";
import { checkObject } from "../../../operations/access.js";
import { shownParameters } from "../../../operations/audit.js";
import type { CallContext } from "../../../operations/operation.js";
import { isRefusal } from "../../../operations/refusal.js";
import type { RestRoute } from "../../../operations/rest-route.js";
import type { TaskSubject } from "../../../tasks/running-task.js";
import { toInputError } from "./operation-parameters.js";
import { retryParameters } from "./retry-parameters.js";
import {
  readOperationRequest,
  type OperationParts,
} from "./operation-request.js";
import { subjectOf, type RestOperation } from "./rest-operation.js";
import { readBoolean } from "../routing/query-values.js";
import {
  callerOf,
  queryOf,
  type RestExchange,
} from "../routing/rest-request.js";
import { REST_ROOT, toHref } from "../routing/rest-path.js";

/**
 * Responds to an action with a task immediately, or with `?sync` with its
 * result.
 */
export async function startAction(
  operation: RestOperation,
  parts: OperationParts,
  { request, reply }: RestExchange,
): Promise<FastifyReply> {
  const { context } = callerOf(request);
  const query = queryOf(request);
  const isSync = readBoolean(query, "sync");
  const { params, entry } = await readOperationRequest(
    operation,
    parts,
    request,
  );
  // Checked first: only callers who may run the action may learn the power state.
  const { permission, rest } = operation;
  if (entry !== undefined && typeof permission === "object")
    checkObject(context, permission, {
      id: entry.id,
      entry: new FoundObject(entry),
    });
  const begin = (caller: CallContext) =>
    run(rest, entry, () =>
      parts.dispatcher.call(operation.name, params, caller),
    ).catch((error: unknown) => {
      throw toInputError(error, operation, query);
    });
  if (isSync) return sendResult(rest, reply, await begin(context));
  const path = request.params as Readonly<Record<string, string>>;
  const task = parts.tasks!.prepare({
    ...toSubject(rest, entry?.id ?? Object.values(path)[0]),
    userId: context.user?.id,
    params: shownParameters((request.body as object | undefined) ?? {}),
    operation: operation.name,
    ...retryParameters(operation, params, entry?.id),
  });
  let hasBegun = false;
  let onBegin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    onBegin = () => {
      hasBegun = true;
      resolve();
    };
  });
  const result = begin({
    ...context,
    task: task.node,
    onBegin,
  });
  await untilAdmitted(result, begun);
  if (!hasBegun && operation.admitsItself === true)
    return sendResult(rest, reply, await result);
  await parts.tasks!.follow(task, result);
  const taskId = task.id;
  return reply
    .code(202)
    .header("location", `${REST_ROOT}/tasks/${taskId}`)
    .send({ taskId });
}

async function run(
  { from }: RestRoute,
  entry: CatalogEntry | undefined,
  call: () => Promise<unknown>,
): Promise<unknown> {
  if (from === undefined || entry === undefined) return call();
  const { power_state: state } = JSON.parse(entry.json.toString()) as {
    readonly power_state?: string;
  };
  if (state !== from)
    throw new XapiError("VM_BAD_POWER_STATE", [
      entry.id,
      from.toLowerCase(),
      String(state).toLowerCase(),
    ]);
  return call();
}

/**
 * Resolves when the call is accepted, throws if it is rejected; later errors belong
 * to the task.
 */
async function untilAdmitted(
  work: Promise<unknown>,
  begun: Promise<void>,
): Promise<void> {
  const failed = work.then(
    () => undefined,
    (error: unknown) => error,
  );
  const error = await Promise.race([failed, begun.then(() => nextTurn())]);
  if (isRefusal(error)) throw error;
}

function toSubject(
  rest: RestRoute,
  objectId = "",
): Pick<TaskSubject, "name" | "objectType" | "objectId"> {
  const action = rest.path.split("/").at(-1)!;
  const type = subjectOf(rest)?.collection.type ?? rest.path.split("/")[1]!;
  return {
    name: `REST API: ${action} ${type}`,
    objectType: type,
    objectId,
  };
}

function sendResult(
  { creates, status }: RestRoute,
  reply: FastifyReply,
  result: unknown,
): FastifyReply {
  if (creates !== undefined) {
    const created = typeof result === "string" ? { id: result } : result;
    const { id } = created as { readonly id: string };
    return reply
      .code(201)
      .header("location", toHref(creates, id))
      .send(created);
  }
  const body = typeof result === "string" ? { id: result } : result;
  const hasResult = typeof body === "object" && body !== null;
  return status === 200 || hasResult
    ? reply.code(200).send(body)
    : reply.code(204).send();
}
