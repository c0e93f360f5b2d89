import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { Bulk, type BulkPlan } from "../bulk/bulk.js";
import { BulkLog, readBulkLog } from "../bulk/bulk-log.js";
import { chooseObjects, MAX_OBJECTS } from "../bulk/bulk-objects.js";
import { BulkResult } from "../bulk/bulk-result.js";
import { recoverItem } from "../bulk/recover-item.js";
import { withoutSecrets } from "../operations/audit.js";
import {
  permissionOf,
  type CallContext,
  type Dispatcher,
} from "../operations/operation.js";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { TaskContext } from "../tasks/task-context.js";

const id = Type.String({ minLength: 1, maxLength: 128 });

const Params = Type.Object(
  {
    method: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "An operation that changes one object, such as vm.start.",
    }),
    ids: Type.Optional(Type.Array(id, { minItems: 1, maxItems: MAX_OBJECTS })),
    filter: Type.Optional(
      Type.String({
        maxLength: 16_384,
        description:
          "In the place of ids: those that match now, such as `tags:test power_state:Halted`.",
      }),
    ),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: "Of what the filter is asked; default: VM.",
      }),
    ),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "The operation's others, the same for all.",
      }),
    ),
    concurrency: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
    idParameter: Type.String({ minLength: 1, maxLength: 64, default: "id" }),
    stopOnError: Type.Boolean({
      default: false,
      description: "No other is begun when one has failed.",
    }),
    sync: Type.Optional(
      Type.Boolean({ description: "Answers when all have ended." }),
    ),
  },
  { additionalProperties: false },
);

export const bulkRun = defineOperation({
  name: "bulk.run",
  summary:
    "Runs one operation on many objects, some at a time, as one task: {taskId}; with `sync`, the outcome of each.",
  params: Params,
  result: Type.Union([Type.Object({ taskId: Type.String() }), BulkResult]),
  permission: "user",
  changes: true,
  rest: {
    method: "post",
    path: "/bulk",
    operationId: "RunBulk",
    exposure: "confirm",
    isAction: true,
    params: { sync: true },
  },
  async handler({ sync = false, ids, filter, type, ...given }, context) {
    const { dispatcher, services, task: callTask } = context;
    const plan = checkPlan(
      { ...given, params: given.params ?? {} },
      dispatcher,
    );
    const choice = {
      ...(ids === undefined ? {} : { ids }),
      ...(filter === undefined ? {} : { filter }),
      ...(type === undefined ? {} : { type }),
    };
    const user = context.user!;
    const chosen = await chooseObjects(choice, user, services.queries);
    const run = (task: TaskContext) => begin(context, plan, chosen, task);
    if (callTask.taskId !== undefined) return run(callTask);
    const task = await services.tasks.run(subjectOf(plan, chosen, user), run);
    if (sync) return task.result;
    // The task reports its failure.
    task.result.catch(() => undefined);
    return { taskId: task.id };
  },
  resumesAtOnce: true,
  resume: (kept: KeptPlan, context, interrupted) =>
    resumeBulk(context, kept, interrupted),
});

/** One operation on many objects, each called as if by the caller of the bulk. */
export const bulkOperations = [bulkRun];

/** Continues a bulk that a previous run of the server has begun; nothing is started twice. */
async function resumeBulk(
  context: OperationContext,
  kept: KeptPlan,
  interrupted: InterruptedTask,
): Promise<BulkResult> {
  const { ids, states } = readBulkLog(interrupted.steps);
  if (ids.length !== kept.total)
    throw new XoError("INTERRUPTED", { reason: "none had begun" });
  const call = callerOf(kept, context);
  const run = (id: string, part: TaskContext, isLast = false) => {
    if (kept.hadSecrets)
      throw new XoError("INTERRUPTED", {
        reason: "not begun: secrets of its parameters are not persisted",
      });
    return call(id, part, isLast);
  };
  const bulk = new Bulk({
    plan: kept,
    ids,
    work: context.task,
    states,
    run,
    settle: (id, begun, part) =>
      recoverItem(begun.part, {
        interrupted,
        isOneCall: kept.isOneCall === true,
        into: part,
        tell: (end) =>
          context.dispatcher.resume(
            {
              name: kept.method,
              objectId: id,
              params: kept.params,
              run: end,
              isOnlyReport: true,
            },
            { ...context, task: part, isPartOfBulk: true },
          ),
        again: () => run(id, part),
      }),
  });
  return bulk.run();
}

/** What `resume` gets. */
interface KeptPlan extends BulkPlan {
  readonly total: number;
  readonly hadSecrets: boolean;
}

async function begin(
  context: OperationContext,
  plan: BulkPlan,
  ids: readonly string[],
  task: TaskContext,
): Promise<BulkResult> {
  const params = withoutSecrets(plan.params) as BulkPlan["params"];
  const hadSecrets = JSON.stringify(params) !== JSON.stringify(plan.params);
  const kept: KeptPlan = { ...plan, params, total: ids.length, hadSecrets };
  await Promise.all([new BulkLog(task).writeIds(ids), task.persistState(kept)]);
  const run = callerOf(plan, context);
  return new Bulk({ plan, ids, work: task, run }).run();
}

/** Each is called with the rights that its caller has by then. */
function callerOf(
  { method, params, idParameter }: BulkPlan,
  context: OperationContext,
) {
  const { client, address, dispatcher, services } = context;
  return (id: string, work: TaskContext, isLast: boolean): Promise<unknown> => {
    const person = services.users.get(context.user!.id);
    if (person === undefined) throw new XoError("UNAUTHORIZED");
    const permission = permissionOf(person);
    const caller: CallContext = {
      user: person,
      permission,
      client,
      address,
      task: work,
      isPartOfBulk: !isLast,
    };
    return dispatcher.call(method, { ...params, [idParameter]: id }, caller);
  };
}

function subjectOf(
  { method, params }: BulkPlan,
  ids: readonly string[],
  person: AuthenticatedUser,
) {
  return {
    name: `bulk: ${method}`,
    objectType: "bulk",
    objectId: "",
    userId: person.id,
    params: { method, count: ids.length, params: withoutSecrets(params) },
    operation: "bulk.run",
  };
}

/** @throws XoError INVALID_PARAMETERS */
function checkPlan(plan: BulkPlan, dispatcher: Dispatcher): BulkPlan {
  const { method, idParameter, params } = plan;
  const operation = dispatcher.find(method);
  const invalid = (reason: string) =>
    new XoError("INVALID_PARAMETERS", { reason });
  if (operation === undefined) throw invalid(`there is no ${method}`);
  const isOne = typeof operation.permission === "object";
  if (!isOne || operation.changes !== true)
    throw invalid(`${method} does not change one object`);
  if (!Object.hasOwn(operation.params.properties, idParameter))
    throw invalid(`${method} has no parameter ${idParameter}`);
  if (Object.hasOwn(params, idParameter))
    throw invalid(`params must not have ${idParameter}`);
  const isOneCall = operation.isOneCall?.(params as never) === true;
  return { ...plan, isOneCall };
}
