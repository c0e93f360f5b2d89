import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { toTaskReader } from "../../tasks/task-changes.js";
import { toSummary, type TaskView } from "../../tasks/task-view.js";

const id = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Id of an object or of a task.",
});

/** A task in the form of GET /rest/v0/tasks/{id}. */
const PublicTask = Type.Unsafe<TaskView>(
  Type.Object({
    id: Type.String(),
    status: Type.Enum(["pending", "success", "failure", "interrupted"]),
    start: Type.Optional(
      Type.Integer({ description: "Time, in ms since the epoch." }),
    ),
    end: Type.Optional(
      Type.Integer({ description: "Time, in ms since the epoch." }),
    ),
    progress: Type.Optional(Type.Integer({ description: "In percent." })),
  }),
);

const details = Type.Optional(
  Type.Boolean({
    default: true,
    description:
      "false: tasks without subtasks, notes and long parameters; `omitted` has their numbers, `task.get` returns them.",
  }),
);

/** Maximum number of tasks read for one list: a state without tasks must not block the store. */
const MAX_READ = 5_000;

const taskList = defineOperation({
  name: "task.list",
  summary:
    "List the tasks of the server, newest first: those of the current user, for administrators all. Tasks of pools are objects of the type task.",
  params: Type.Object(
    {
      object: Type.Optional(id),
      pending: Type.Optional(
        Type.Boolean({ description: "Only tasks that have not ended." }),
      ),
      status: Type.Optional(
        Type.Enum(["pending", "success", "failure", "interrupted"], {
          description: "Only tasks with this status.",
        }),
      ),
      text: Type.Optional(
        Type.String({
          maxLength: 256,
          description:
            "Only tasks with this string in the name, operation, object, user or error; case is ignored.",
        }),
      ),
      user: Type.Optional(
        Type.String({
          maxLength: 256,
          description: "Id or name of the user who started the task.",
        }),
      ),
      pool: Type.Optional(
        Type.String({
          maxLength: 1024,
          description: "Id of a pool: only tasks whose object is in the pool.",
        }),
      ),
      since: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            "Only tasks started at or after this time, in ms since the epoch.",
        }),
      ),
      until: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            "Only tasks started before this time, in ms since the epoch.",
        }),
      ),
      limit: Type.Integer({
        minimum: 1,
        maximum: 500,
        default: 100,
        description: "Maximum number of tasks.",
      }),
      details,
    },
    { additionalProperties: false },
  ),
  result: Type.Array(PublicTask),
  permission: "viewer",
  async handler(
    {
      object,
      pending = false,
      text = "",
      pool,
      user,
      limit,
      details = true,
      ...range
    },
    context,
  ) {
    const { tasks, store } = context.services;
    const status = pending ? "pending" : range.status;
    const userId =
      user === undefined
        ? undefined
        : (store.users.findByName(user)?.id ?? user);
    const about = {
      ...range,
      ...(object === undefined ? {} : { objectId: object }),
      ...(userId === undefined ? {} : { userId }),
      ...(status === undefined ? {} : { status }),
    };
    const matchesText = createTaskMatch(text, context);
    const isInPool = createPoolMatch(pool, context);
    const matches = (task: TaskView) => isInPool(task) && matchesText(task);
    const found: TaskView[] = [];
    let read = 0;
    for await (const page of tasks.list(toTaskReader(context.user), about)) {
      // Tasks that are stored as running may have ended since.
      for (const task of page)
        if ((!pending || task.status === "pending") && matches(task))
          found.push(task);
      read += page.length;
      if (found.length >= limit || read >= MAX_READ) break;
    }
    const listed = found.slice(0, limit);
    return details ? listed : listed.map(toSummary);
  },
});

const taskGet = defineOperation({
  name: "task.get",
  summary: "Return a task of the server with its subtasks and notes.",
  params: Type.Object({ id }),
  result: PublicTask,
  permission: "viewer",
  async handler({ id }, context) {
    const task = await context.services.tasks.get(
      id,
      toTaskReader(context.user),
    );
    if (task === undefined)
      throw new XoError("NO_SUCH_OBJECT", { type: "task", id });
    return task;
  },
});

/** Objects that the reader may not read count as objects without a pool, as in lists. */
function createPoolMatch(
  pool: string | undefined,
  { user, objects }: OperationContext,
): (task: TaskView) => boolean {
  if (pool === undefined) return () => true;
  return ({ properties = {} }) => {
    const { objectId } = properties as { readonly objectId?: unknown };
    const found =
      typeof objectId === "string" ? objects.find(objectId) : undefined;
    if (found?.object["$pool"] !== pool) return false;
    const { type, object } = found;
    return (
      user?.isAdmin === true || user?.rights.may("read", type, object) === true
    );
  };
}

/** Searches names of tasks, operations, objects and users, and errors. */
function createTaskMatch(
  text: string,
  { user, objects, services }: OperationContext,
): (task: TaskView) => boolean {
  const searched = text.trim().toLowerCase();
  if (searched === "") return () => true;
  const nameOf = (id: unknown): unknown => {
    const found = typeof id === "string" ? objects.find(id) : undefined;
    if (found === undefined) return undefined;
    // A search must not reveal names of other objects.
    const { type, object } = found;
    const isReadable =
      user?.isAdmin === true || user?.rights.may("read", type, object);
    return isReadable === true ? object["name_label"] : undefined;
  };
  return ({ properties = {}, result = {} }) => {
    const { name, operation, objectId, userId } = properties as Readonly<
      Record<string, unknown>
    >;
    const { code, message } = result as Readonly<Record<string, unknown>>;
    const userName =
      typeof userId === "string"
        ? services.store.users.get(userId)?.name
        : undefined;
    const parts = [name, operation, objectId, nameOf(objectId), userName];
    return [...parts, code, message].some(
      (part) =>
        typeof part === "string" && part.toLowerCase().includes(searched),
    );
  };
}

const taskSubscribe = defineOperation({
  name: "task.subscribe",
  summary:
    "Subscribe to notifications `task` {update, remove, reset?} of changed tasks. After `reset` the client must list the tasks again.",
  params: Type.Object({ details }),
  result: Type.Boolean(),
  permission: "viewer",
  handler({ details = true }, { services, client }) {
    services.taskSubscriptions.add(client, details);
    return true;
  },
});

const taskUnsubscribe = defineOperation({
  name: "task.unsubscribe",
  summary:
    "Unsubscribe from `task` notifications. Returns false if there is no subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler: (_, { services, client }) =>
    services.taskSubscriptions.delete(client),
});

/** Lists and notifications of the server's tasks, for clients with a WebSocket. */
export const taskListOperations = [
  taskList,
  taskGet,
  taskSubscribe,
  taskUnsubscribe,
];
