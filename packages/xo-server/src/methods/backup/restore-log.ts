import { XoError } from "@xo-server/model";
import { Type, type Static } from "typebox";
import type { RestRoute } from "../../operations/rest-route.js";
import type { TaskView } from "../../tasks/task-view.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const ID = "00000000-0000-4000-8000-000000000004";
/** Maximum number of logs in a list. A log is deleted together with its task. */
const MAX_LOGS = 1_000;

const PublicLog = Type.Object(
  {
    id: Type.String(),
    message: Type.Literal("restore"),
    status: Type.String(),
    start: Type.Optional(Type.Number()),
    end: Type.Optional(Type.Number()),
    data: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: true },
);
type PublicLog = Static<typeof PublicLog>;

interface TaskProperties {
  readonly name?: string;
  readonly operation?: string;
  readonly objectId?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

const RESTORES: ReadonlySet<string> = new Set([
  "backup.restore",
  "backup.restoreDisk",
  "backup.restoreOver",
  "backupNg.importVmBackup",
  "metadataBackup.restore",
]);

/** @returns undefined: the task is not a restore */
function toLog(task: TaskView): PublicLog | undefined {
  const properties = (task.properties ?? {}) as TaskProperties;
  const { name, operation = "", objectId, params = {} } = properties;
  if (!RESTORES.has(operation)) return undefined;
  const { id, status, start, end, progress, warnings, infos, result } = task;
  const details = { progress, warnings, infos, result, tasks: task.tasks };
  return {
    id,
    message: "restore",
    status,
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    data: {
      name,
      // For a REST action, the path contains the id.
      backup: params["id"] ?? objectId,
      sr: params["sr"],
      vm: params["vm"],
      disk: params["disk"],
    },
    ...details,
  };
}

async function list(context: OperationContext): Promise<PublicLog[]> {
  const logs: PublicLog[] = [];
  for await (const page of context.services.tasks.list(readerOf(context)))
    for (const task of page) {
      const log = toLog(task);
      if (log === undefined) continue;
      logs.push(log);
      if (logs.length === MAX_LOGS) return logs;
    }
  return logs;
}

/** Administrators read all logs, others those of their own restores. */
function readerOf({ user }: Pick<OperationContext, "user">) {
  return { id: user?.id ?? "", isAdmin: user?.isAdmin === true };
}

const folders = [
  ["/restore-logs", "GetRestoreLogs", "GetRestoreLog"],
  ["/restore/logs", "GetDeprecatedRestoreLogs", "GetDeprecatedRestoreLog"],
] as const;

const route = (path: string, operationId: string): RestRoute => ({
  method: "get",
  path,
  operationId,
  exposure: "allow",
});

const restoreLogGetAll = defineOperation({
  name: "restoreLog.getAll",
  summary: "List the logs of restores, newest first.",
  params: Type.Object({}),
  result: Type.Array(PublicLog),
  permission: "user",
  rest: folders.map(([path, operationId]) => ({
    ...route(path, operationId),
    example: [{ id: ID, status: "success" }],
  })),
  handler: (_params, context) => list(context),
});

const restoreLogGet = defineOperation({
  name: "restoreLog.get",
  summary: "Return the log of a restore.",
  params: Type.Object(
    { id: Type.String({ minLength: 1, description: "Id of the log." }) },
    { additionalProperties: false },
  ),
  result: PublicLog,
  permission: "user",
  rest: folders.map(([path, , operationId]) => ({
    ...route(`${path}/{id}`, operationId),
    example: { id: ID, status: "success" },
  })),
  handler: async ({ id }, context) => {
    const task = await context.services.tasks.get(id, readerOf(context));
    const log = task === undefined ? undefined : toLog(task);
    if (log !== undefined) return log;
    throw new XoError("NO_SUCH_OBJECT", { type: "restore log", id });
  },
});

/** Logs of restores, which are the tasks of restores. */
export const restoreLogOperations = [restoreLogGetAll, restoreLogGet];
