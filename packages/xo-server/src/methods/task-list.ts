import { Type } from "typebox";
import type { HandlerContext } from "../operations/operation.js";
import { defineOperation } from "./define-operation.js";
import type { TaskReader } from "../tasks/task-changes.js";
import type { TaskView } from "../tasks/task-view.js";

const id = Type.String({ minLength: 1, maxLength: 1024 });

/** As GET /rest/v0/tasks/{id} has it. */
const PublicTask = Type.Unsafe<TaskView>(
  Type.Object({
    id: Type.String(),
    status: Type.Enum(["pending", "success", "failure", "interrupted"]),
    start: Type.Optional(Type.Integer({ description: "ms" })),
    end: Type.Optional(Type.Integer({ description: "ms" })),
    progress: Type.Optional(Type.Integer({ description: "Percent." })),
  }),
);

/** Tasks read for one list: a state without tasks must not block the store. */
const MOST_READ = 5_000;

export const taskList = defineOperation({
  name: "task.list",
  summary:
    "Tasks of the server, newest first: those of the current user, for administrators all. Tasks of pools are objects.",
  params: Type.Object(
    {
      object: Type.Optional(id),
      pending: Type.Optional(
        Type.Boolean({ description: "Only those that have not ended." }),
      ),
      limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
    },
    { additionalProperties: false },
  ),
  result: Type.Array(PublicTask),
  permission: "viewer",
  async handler({ object, pending = false, limit }, context) {
    const about = object === undefined ? {} : { objectId: object };
    const found: TaskView[] = [];
    let read = 0;
    for await (const page of context.services.tasks.list(
      readerOf(context),
      about,
    )) {
      for (const task of page)
        if (!pending || task.status === "pending") found.push(task);
      read += page.length;
      if (found.length >= limit || read >= MOST_READ) break;
    }
    return found.slice(0, limit);
  },
});

export const taskSubscribe = defineOperation({
  name: "task.subscribe",
  summary:
    "Subscribes to notifications `task` {update, remove, reset?} about changed tasks; after `reset` list the tasks again.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler(_, { services, client }) {
    services.taskSubscriptions.add(client);
    return true;
  },
});

export const taskUnsubscribe = defineOperation({
  name: "task.unsubscribe",
  summary:
    "Ends the notifications `task`; returns false without a subscription.",
  params: Type.Object({}),
  result: Type.Boolean(),
  permission: "viewer",
  handler: (_, { services, client }) =>
    services.taskSubscriptions.delete(client),
});

/** Anonymous clients have none. */
function readerOf({ user: person }: HandlerContext): TaskReader {
  return person ?? { id: "", isAdmin: false };
}

/** Tasks of the server for clients with a socket: a list, and its changes. */
export const taskListOperations = [taskList, taskSubscribe, taskUnsubscribe];
