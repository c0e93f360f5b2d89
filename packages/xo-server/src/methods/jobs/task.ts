import { Type } from "typebox";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { toTaskReader } from "../../tasks/task-changes.js";

const id = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: "Id of a task.",
});
const Params = Type.Object({ id }, { additionalProperties: false });
const changed = { result: Type.Boolean(), changes: true } as const;

const callOnTask = async (
  { objects }: Pick<OperationContext, "objects">,
  taskId: string,
  verb: string,
): Promise<true> => {
  const { xapi, ref } = objects.get(taskId, "task");
  await xapi.call(`task.${verb}`, [ref]);
  return true;
};

const taskCancel = defineOperation({
  ...changed,
  name: "task.cancel",
  summary:
    "Cancel a task of a pool. Tasks of the server, such as backups and restores, are aborted by task.abort.",
  params: Params,
  permission: {
    action: "administrate:cancel",
    resource: "task",
    id: (params) => params.id,
  },
  handler: (params, context) => callOnTask(context, params.id, "cancel"),
});

const taskDestroy = defineOperation({
  ...changed,
  name: "task.destroy",
  summary: "Destroy a task of a pool.",
  params: Params,
  permission: {
    action: "administrate:delete",
    resource: "task",
    id: (params) => params.id,
  },
  handler: (params, context) => callOnTask(context, params.id, "destroy"),
});

const taskAbort = defineOperation({
  ...changed,
  name: "task.abort",
  summary: "Abort a task of the server, with its XAPI tasks.",
  params: Params,
  permission: "user",
  rest: {
    method: "post",
    path: "/tasks/{id}/actions/abort",
    operationId: "AbortTask",
    exposure: "confirm",
    isAction: true,
  },
  async handler(params, context) {
    await context.services.tasks.abort(params.id, toTaskReader(context.user));
    return true;
  },
});

const taskDelete = defineOperation({
  ...changed,
  name: "task.delete",
  summary: "Delete an ended task of the server.",
  params: Params,
  permission: "user",
  rest: {
    method: "delete",
    path: "/tasks/{id}",
    operationId: "DeleteTask",
    exposure: "confirm",
    status: 204,
  },
  async handler(params, context) {
    await context.services.tasks.delete(params.id, toTaskReader(context.user));
    return true;
  },
});

const taskDeleteAll = defineOperation({
  ...changed,
  name: "task.deleteAll",
  summary:
    "Delete ended tasks of the server: those of the current user; for administrators, those of all users.",
  params: Type.Object({}),
  permission: "user",
  rest: {
    method: "delete",
    path: "/tasks",
    operationId: "DeleteTasks",
    exposure: "confirm",
    status: 204,
  },
  async handler(_, context) {
    await context.services.tasks.deleteEnded(toTaskReader(context.user));
    return true;
  },
});

/** Tasks of pools (`task.cancel`, `task.destroy`), and tasks of the server. */
export const taskOperations = [
  taskCancel,
  taskDestroy,
  taskAbort,
  taskDelete,
  taskDeleteAll,
];
