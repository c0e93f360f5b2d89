import type { Queries } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { Bulk, type BulkPlan } from "../bulk/bulk.js";
import { BulkLog, readBulkLog } from "../bulk/bulk-log.js";
import { chooseObjects, MOST_OBJECTS } from "../bulk/bulk-objects.js";
import { BulkResult } from "../bulk/bulk-result.js";
import { settleItem } from "../bulk/settle-item.js";
import { withoutSecrets } from "../operations/audit.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import {
  defineOperation,
  permissionOf,
  type CallContext,
  type HandlerContext,
  type Operation,
} from "../operations/operation.js";
import type { AuthenticatedUsers } from "../auth/authenticated-users.js";
import type { AuthenticatedUser } from "../auth/authenticated-user.js";
import type { Tasks } from "../tasks/tasks.js";
import type { TaskContext } from "../tasks/task-context.js";

export interface BulkParts {
  readonly people: Pick<AuthenticatedUsers, "get">;
  readonly queries: Pick<Queries, "page">;
  readonly tasks: Pick<Tasks, "run">;
}

const id = Type.String({ minLength: 1, maxLength: 128 });

const Params = Type.Object(
  {
    method: Type.String({
      minLength: 1,
      maxLength: 128,
      description: "An operation that changes one object, such as vm.start.",
    }),
    ids: Type.Optional(Type.Array(id, { minItems: 1, maxItems: MOST_OBJECTS })),
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

/** The same operation on many objects, each as if its caller had called it. */
export function bulkMethods(parts: BulkParts): Operation[] {
  return [
    defineOperation({
      name: "bulk.run",
      summary:
        "Does one operation to many objects, some at a time, as one task: {taskId}; with `sync`, what became of them.",
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
        const plan = checkPlan(
          { ...given, params: given.params ?? {} },
          context.dispatcher,
        );
        const choice = {
          ...(ids === undefined ? {} : { ids }),
          ...(filter === undefined ? {} : { filter }),
          ...(type === undefined ? {} : { type }),
        };
        const { user: person } = context;
        const chosen = await chooseObjects(choice, person!, parts.queries);
        const run = (work: TaskContext) =>
          begin(parts, plan, chosen, { context, work });
        if (context.task.taskId !== undefined) return run(context.task);
        const task = await parts.tasks.run(
          subjectOf(plan, chosen, person!),
          run,
        );
        if (sync) return task.result;
        // How it ends is the task's.
        task.result.catch(() => undefined);
        return { taskId: task.id };
      },
      resumesAtOnce: true,
      async resume(kept: KeptPlan, context, recalled) {
        const { ids, states } = readBulkLog(recalled.steps);
        const { task: work } = context;
        if (ids.length !== kept.total)
          throw new XoError("INTERRUPTED", { reason: "none had begun" });
        const call = callerOf(parts, kept, context);
        const run = (id: string, part: TaskContext, isLast = false) => {
          if (kept.hadSecrets)
            throw new XoError("INTERRUPTED", {
              reason: "not begun: secrets of its parameters are not kept",
            });
          return call(id, part, isLast);
        };
        const bulk = new Bulk({
          plan: kept,
          ids,
          work,
          states,
          run,
          settle: (id, begun, part) =>
            settleItem(begun.part, {
              recalled,
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
      },
    }),
  ];
}

/** What `resume` gets. */
interface KeptPlan extends BulkPlan {
  readonly total: number;
  readonly hadSecrets: boolean;
}

interface Caller {
  readonly context: HandlerContext;
  readonly work: TaskContext;
}

async function begin(
  parts: BulkParts,
  plan: BulkPlan,
  ids: readonly string[],
  { context, work }: Caller,
): Promise<BulkResult> {
  const params = withoutSecrets(plan.params) as BulkPlan["params"];
  const hadSecrets = JSON.stringify(params) !== JSON.stringify(plan.params);
  const kept: KeptPlan = { ...plan, params, total: ids.length, hadSecrets };
  await Promise.all([new BulkLog(work).writeIds(ids), work.persistState(kept)]);
  const run = callerOf(parts, plan, context);
  return new Bulk({ plan, ids, work, run }).run();
}

/** Each is called with the rights that its caller has by then. */
function callerOf(
  { people }: BulkParts,
  { method, params, idParameter }: BulkPlan,
  context: HandlerContext,
) {
  const { client, address, dispatcher } = context;
  return (id: string, work: TaskContext, isLast: boolean): Promise<unknown> => {
    const person = people.get(context.user!.id);
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
