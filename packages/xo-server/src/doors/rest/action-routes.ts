import { setImmediate as nextTurn } from "node:timers/promises";
import type { CatalogEntry } from "@xo-server/inventory";
import { XapiError, XoError, type ErrorCode } from "@xo-server/model";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { checkObject } from "../../operations/access.js";
import type { Dispatcher } from "../../operations/dispatcher.js";
import type { Operation } from "../../operations/operation.js";
import { collections } from "./collections.js";
import { findObject, type ObjectSources } from "./find-object.js";
import { invalidInput } from "./invalid-input.js";
import { readBoolean } from "./query-values.js";
import { callerOf, pathParameter, queryOf } from "./rest-request.js";
import { REST_ROOT, toHref } from "./rest-path.js";
import type { RestTasks } from "./tasks/rest-tasks.js";
import { vmActions, type VmAction } from "./vm-actions.js";

export interface ActionParts {
  readonly objects: ObjectSources;
  readonly operations: readonly Operation[];
  readonly dispatcher: Dispatcher;
  readonly tasks: RestTasks;
}

/** Actions answer with a task, or with `?sync` when they are done. */
export function addActionRoutes(
  door: FastifyInstance,
  parts: ActionParts,
): void {
  const names = new Set(parts.operations.map(({ name }) => name));
  for (const action of vmActions.filter(({ operation }) =>
    names.has(operation),
  ))
    door.post(`/vms/:id/actions/${action.action}`, (request, reply) =>
      act(action, parts, { request, reply }),
    );
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const vms = collections.find(({ name }) => name === "vms")!;

async function act(
  action: VmAction,
  { objects, operations, dispatcher, tasks }: ActionParts,
  { request, reply }: Exchange,
): Promise<FastifyReply> {
  const { context, rights } = callerOf(request);
  const isSync = readBoolean(queryOf(request), "sync");
  const given = readBody(action, request.body);
  const id = pathParameter(request, "id");
  const entry = await findObject(objects, vms, id, rights());
  // What state it is in is told to who may do this.
  const { permission } = operations.find(
    ({ name }) => name === action.operation,
  )!;
  if (typeof permission === "object")
    checkObject(context, permission, { id: entry.id, entry });
  const work = run(action, entry, (params) =>
    dispatcher.call(action.operation, { ...params, ...given }, context),
  );
  if (isSync) return sendResult(action, reply, await work);
  await untilAdmitted(work);
  const taskId = await tasks.follow(
    {
      name: `REST API: ${action.action} VM`,
      objectType: "VM",
      objectId: entry.id,
      userId: context.person?.id,
      params: (request.body as object | undefined) ?? {},
    },
    work,
  );
  return reply
    .code(202)
    .header("location", `${REST_ROOT}/tasks/${taskId}`)
    .send({ taskId });
}

async function run(
  { from, params }: VmAction,
  { id, json }: CatalogEntry,
  call: (params: object) => Promise<unknown>,
): Promise<unknown> {
  const { power_state: state } = JSON.parse(json.toString()) as {
    readonly power_state?: string;
  };
  if (from !== undefined && state !== from)
    throw new XapiError("VM_BAD_POWER_STATE", [
      id,
      from.toLowerCase(),
      String(state).toLowerCase(),
    ]);
  return call({ ...params, id });
}

/** What the dispatcher refuses before it begins. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NO_SUCH_OBJECT",
  "INVALID_PARAMETERS",
  "STORE_UNAVAILABLE",
]);

/** A refusal is the answer; errors of the work itself are the task's. */
async function untilAdmitted(work: Promise<unknown>): Promise<void> {
  const failed = work.then(
    () => undefined,
    (error: unknown) => error,
  );
  const error = await Promise.race([failed, nextTurn()]);
  if (error instanceof XoError && REFUSALS.has(error.code)) throw error;
}

function sendResult(
  { creates }: VmAction,
  reply: FastifyReply,
  result: unknown,
): FastifyReply {
  if (creates === undefined) return reply.code(204).send();
  const id = String(result);
  return reply.code(201).header("location", toHref(creates, id)).send({ id });
}

function readBody(
  { body = {} }: VmAction,
  given: unknown,
): Readonly<Record<string, string>> {
  if (given === undefined || given === null) return {};
  if (typeof given !== "object" || Array.isArray(given))
    throw invalidInput({ body: { message: "not an object" } });
  const members = Object.entries(given).map(([key, value]) => {
    if (!Object.hasOwn(body, key))
      throw invalidInput({
        [`body.${key}`]: {
          message: `"${key}" is an excess property and therefore is not allowed`,
        },
      });
    if (typeof value !== "string")
      throw invalidInput({ [`body.${key}`]: { message: "not a text" } });
    return [body[key]!, value] as const;
  });
  return Object.fromEntries(members);
}
