import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { Bulk, type BulkPlan } from "../../bulk/bulk.js";
import { BulkLog, readBulkLog } from "../../bulk/bulk-log.js";
import { chooseObjects, MAX_OBJECTS } from "../../bulk/bulk-objects.js";
import { BulkResult } from "../../bulk/bulk-result.js";
import { recoverItem } from "../../bulk/recover-item.js";
import { noClient } from "../../auth/sessions/client.js";
import { shownParameters, withoutSecrets } from "../../operations/audit.js";
import {
  permissionOf,
  type CallContext,
  type Dispatcher,
  type HandlerContext,
} from "../../operations/operation.js";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import type { AuthenticatedUser } from "../../auth/users/authenticated-user.js";
import type { TaskContext } from "../../tasks/task-context.js";

const id = Type.String({ minLength: 1, maxLength: 128 });

const Params = Type.Object(
  {
    method: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "An operation that changes one object, such as vm.start.",
    }),
    ids: Type.Optional(
      Type.Array(id, {
        minItems: 1,
        maxItems: MAX_OBJECTS,
        description: "Ids of the objects.",
      }),
    ),
    filter: Type.Optional(
      Type.String({
        maxLength: 16_384,
        description:
          "Filter expression, instead of ids: selects the objects that match when the call starts, such as `tags:test power_state:Halted`.",
      }),
    ),
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          "Type of the objects that the filter selects; default: VM.",
      }),
    ),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          "Other parameters of the operation, the same for all objects.",
      }),
    ),
    concurrency: Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 10,
      description: "Maximum number of concurrent calls.",
    }),
    idParameter: Type.String({
      minLength: 1,
      maxLength: 64,
      default: "id",
      description: "The parameter of the operation that names the object.",
    }),
    stopOnError: Type.Boolean({
      default: false,
      description: "Starts no further calls after a failed one.",
    }),
    sync: Type.Optional(
      Type.Boolean({
        description:
          "Returns when all calls have ended, instead of immediately.",
      }),
    ),
  },
  { additionalProperties: false },
);

const bulkRun = defineOperation({
  name: "bulk.run",
  summary:
    "Run one operation on many objects, `concurrency` at a time, as one task. Returns {taskId}, or with `sync` the outcome for each object. If no object matches the filter, there is no task, and the outcome is returned.",
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
  async handler({ sync = false, ids, filter, type, ...input }, context) {
    const { dispatcher, services, task: callTask } = context;
    const plan = checkPlan(
      { ...input, params: input.params ?? {} },
      dispatcher,
    );
    const choice = {
      ...(ids === undefined ? {} : { ids }),
      ...(filter === undefined ? {} : { filter }),
      ...(type === undefined ? {} : { type }),
    };
    const user = context.user!;
    const release =
      context.client === noClient
        ? () => undefined
        : services.bulkRuns.start(user.id);
    try {
      const chosen = await chooseObjects(choice, user, services.queries);
      if (chosen.length === 0) {
        release();
        return { succeeded: 0, failed: [] };
      }
      await requireOneAdmitted(context, plan, chosen);
      context.onBegin?.();
      const run = (task: TaskContext) =>
        begin(context, plan, chosen, task).finally(release);
      if (callTask.taskId !== undefined) return await run(callTask);
      const task = await services.tasks.run(subjectOf(plan, chosen, user), run);
      if (sync) return await task.result;
      // The task reports its failure.
      task.result.catch(() => undefined);
      return { taskId: task.id };
    } catch (error) {
      release();
      throw error;
    }
  },
  admitsItself: true,
  resumesAtOnce: true,
  resume: (kept: PersistedPlan, context, interrupted) =>
    resumeBulk(context, kept, interrupted),
});

/** One operation on many objects. Each call has the rights of the caller. */
export const bulkOperations = [bulkRun];

/** Continues a bulk operation of a previous run of the server. No call is repeated. */
async function resumeBulk(
  context: OperationContext,
  kept: PersistedPlan,
  interrupted: InterruptedTask,
): Promise<BulkResult> {
  const { ids, states } = readBulkLog(interrupted.steps);
  if (ids.length !== kept.total)
    throw new XoError("INTERRUPTED", { reason: "no call had been started" });
  const { call, nameOf } = callerOf(kept, context);
  const { completeItem } = context.dispatcher.find(kept.method) ?? {};
  const run = (id: string, part: TaskContext, isLast = false) => {
    if (kept.hadSecrets)
      throw new XoError("INTERRUPTED", {
        reason: "not started: secrets of its parameters are not persisted",
      });
    return call(id, part, isLast);
  };
  const bulk = new Bulk({
    plan: kept,
    ids,
    work: context.task,
    turns: context.services.bulkRuns.turns,
    nameOf,
    states,
    run,
    settle: (begun, { id, part, again }) =>
      recoverItem<HandlerContext<never>>(begun.part, {
        interrupted,
        isOneCall: kept.isOneCall === true,
        callMethods: context.dispatcher.find(kept.method)?.callMethods,
        complete:
          completeItem &&
          ((ended, called) => {
            const params = { ...kept.params, [kept.idParameter]: id };
            return completeItem(params as never, called, ended);
          }),
        into: part,
        audit: (end) =>
          context.dispatcher.resume(
            {
              name: kept.method,
              objectId: id,
              params: kept.params,
              run: end,
              isOnlyReport: completeItem === undefined,
            },
            { ...context, task: part, isPartOfBulk: true },
          ),
        again,
      }),
  });
  return bulk.run();
}

/** The plan as persisted, from which `resume` continues. */
interface PersistedPlan extends BulkPlan {
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
  const kept: PersistedPlan = {
    ...plan,
    params,
    total: ids.length,
    hadSecrets,
  };
  await Promise.all([
    context.startedTask.note(task.taskId),
    task.persistState(kept),
    new BulkLog(task).writeIds(ids),
  ]);
  const { call: run, admit, nameOf } = callerOf(plan, context);
  const { turns } = context.services.bulkRuns;
  const bulk = new Bulk({ plan, ids, work: task, turns, run, admit, nameOf });
  return bulk.run();
}

/**
 * Checks that the caller may run the operation on at least one object, before anything is stored.
 * @throws the refusal of the first object, if all are refused
 */
async function requireOneAdmitted(
  context: OperationContext,
  plan: BulkPlan,
  ids: readonly string[],
): Promise<void> {
  const { admit } = callerOf(plan, context);
  const { turns } = context.services.bulkRuns;
  let refusal: Error | undefined;
  for (const id of ids) {
    await turns.next();
    try {
      admit(id);
      return;
    } catch (error) {
      refusal ??= error as Error;
    }
  }
  if (refusal !== undefined) throw refusal;
}

/** Functions that call the operation on one object, with the current rights of the caller. */
function callerOf(
  { method, params, idParameter }: BulkPlan,
  context: OperationContext,
) {
  const { client, address, dispatcher, services, trace } = context;
  const { user: caller } = context;
  const paramsOf = (id: string) => ({ ...params, [idParameter]: id });
  const callContext = (): CallContext => {
    const user = services.users.get(caller!.id);
    if (user === undefined) throw new XoError("UNAUTHORIZED");
    const permission = permissionOf(user);
    return { user, permission, client, address, trace };
  };
  return {
    /** @throws XoError: the call would be refused */
    admit: (id: string): void => {
      dispatcher.admit(method, paramsOf(id), callContext());
    },
    call: (
      id: string,
      task: TaskContext,
      isLast: boolean,
    ): Promise<unknown> => {
      return dispatcher.call(method, paramsOf(id), {
        ...callContext(),
        task,
        isPartOfBulk: !isLast,
        waitsForStore: true,
      });
    },
    /** The name of an object if the caller may read it. */
    nameOf: (id: string): string | undefined => {
      const found = context.objects.find(id);
      const user = services.users.get(caller!.id);
      const isVisible =
        found !== undefined &&
        user !== undefined &&
        (user.isAdmin || user.rights.may("read", found.type, found.object));
      const name = isVisible ? found.object["name_label"] : undefined;
      return typeof name === "string" && name !== "" ? name : undefined;
    },
  };
}

/** With the parameters that clients need to run the operation again for some of the objects. */
function subjectOf(
  { method, params, idParameter }: BulkPlan,
  ids: readonly string[],
  user: AuthenticatedUser,
) {
  const shown = shownParameters(params);
  const isComplete = JSON.stringify(shown) === JSON.stringify(params);
  return {
    name: `bulk: ${method}`,
    objectType: "bulk",
    objectId: "",
    userId: user.id,
    params: {
      method,
      idParameter,
      count: ids.length,
      params: shown,
      ...(isComplete ? {} : { isIncomplete: true }),
    },
    operation: "bulk.run",
  };
}

/** Limit of the parameters as JSON: they are validated again for each object. */
const MAX_PARAMS_LENGTH = 65_536;

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
  if (JSON.stringify(params).length > MAX_PARAMS_LENGTH)
    throw invalid(`params has at most ${MAX_PARAMS_LENGTH} characters as JSON`);
  const isOneCall = operation.isOneCall?.(params as never) === true;
  return { ...plan, isOneCall };
}
