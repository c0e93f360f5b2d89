import { XoError } from "@xo-server/model";
import type { JobRun } from "@xo-server/store";
import { Type } from "typebox";
import {
  toContractLog,
  type ContractRunLog,
} from "../../backups/report/contract-log.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const ID = "00000000-0000-4000-8000-000000000004";
const closed = { additionalProperties: false } as const;
/** Types of backup jobs, including those that clients of Xen Orchestra know. */
const TYPES: ReadonlySet<string> = new Set([
  "backup",
  "metadataBackup",
  "mirrorBackup",
]);
const id = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a run.",
});
const PublicLog = Type.Object(
  { id: Type.String(), status: Type.String() },
  { additionalProperties: true },
);
const exampleLog = {
  id: ID,
  jobId: ID,
  jobName: "nightly",
  message: "backup",
  status: "success",
  start: 1_790_000_000_000,
  end: 1_790_000_060_000,
};

type Services = OperationContext["services"];

/** Maximum number of runs of a job in a list. */
const MAX_RUNS = 200;

async function readLogs(services: Services): Promise<ContractRunLog[]> {
  const logs: ContractRunLog[] = [];
  for (const { id: jobId, type } of services.jobs.list()) {
    if (!TYPES.has(type)) continue;
    const { runs } = await services.store.jobRuns.list({
      jobId,
      limit: MAX_RUNS,
    });
    logs.push(...runs.map(toContractLog));
  }
  return logs.sort((a, b) => b.start - a.start);
}

const backupNgGetAllLogs = defineOperation({
  name: "backupNg.getAllLogs",
  summary:
    "Return the last 200 runs of each backup job of any type, as an object by the id of the run.",
  params: Type.Object(
    {
      ndjson: Type.Optional(
        Type.Boolean({
          description: "Ignored. Clients of Xen Orchestra send it.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Record(Type.String(), PublicLog),
  permission: "admin",
  handler: async (_params, { services }) =>
    Object.fromEntries(
      (await readLogs(services)).map((log) => [log.id, log] as const),
    ),
});

const time = Type.Optional(Type.Union([Type.Number(), Type.String()]));

const backupNgGetLogs = defineOperation({
  name: "backupNg.getLogs",
  summary:
    "List the runs of backup jobs, newest first. Additional parameters filter by properties of a run, such as jobId.",
  params: Type.Object(
    {
      after: time,
      before: time,
      limit: Type.Optional(
        Type.Number({ minimum: 0, description: "Maximum number of runs." }),
      ),
    },
    { additionalProperties: true },
  ),
  result: Type.Array(PublicLog),
  permission: "admin",
  async handler({ after, before, limit, ...filter }, { services }) {
    const from = toTime(after) ?? -Infinity;
    const to = toTime(before) ?? Infinity;
    const requested = Object.entries(filter);
    return (await readLogs(services))
      .filter(({ start }) => start > from && start < to)
      .filter((log) =>
        requested.every(([key, value]) => Reflect.get(log, key) === value),
      )
      .slice(0, limit);
  },
});

const backupLogGetAll = defineOperation({
  name: "backupLog.getAll",
  summary: "List the last 200 runs of each backup job, newest first.",
  params: Type.Object({}),
  result: Type.Array(PublicLog),
  permission: "user",
  rest: [
    {
      method: "get",
      path: "/backup-logs",
      operationId: "GetBackupLogs",
      exposure: "allow",
      example: [exampleLog],
    },
    {
      method: "get",
      path: "/backup/logs",
      operationId: "GetDeprecatedBackupLogs",
      exposure: "allow",
      example: [exampleLog],
    },
  ],
  handler: (_params, { services, permission }) =>
    permission === "admin" ? readLogs(services) : [],
});

const backupLogGet = defineOperation({
  name: "backupLog.get",
  summary: "Return a run of a backup job.",
  params: Type.Object({ id }, closed),
  result: PublicLog,
  permission: "admin",
  rest: [
    {
      method: "get",
      path: "/backup-logs/{id}",
      operationId: "GetBackupLog",
      exposure: "allow",
      example: exampleLog,
    },
    {
      method: "get",
      path: "/backup/logs/{id}",
      operationId: "GetDeprecatedBackupLog",
      exposure: "allow",
      example: exampleLog,
    },
  ],
  async handler(params, { services }) {
    const run: JobRun | undefined = await services.store.jobRuns.get(params.id);
    const isBackup =
      run !== undefined &&
      TYPES.has(services.store.jobs.get(run.jobId)?.type ?? "backup");
    if (isBackup) return toContractLog(run);
    throw new XoError("NO_SUCH_OBJECT", { type: "backup log", id: params.id });
  },
});

const CoveredVm = Type.Object({
  vm: Type.String(),
  name: Type.String(),
  jobs: Type.Array(Type.String()),
  lastBackup: Type.Optional(
    Type.Number({ description: "Time, in ms since the epoch." }),
  ),
  excluded: Type.Optional(
    Type.String({ description: "Reason for which the VM is excluded." }),
  ),
});

const backupCoverage = defineOperation({
  name: "backup.coverage",
  summary:
    "List the VMs with their backup coverage: the jobs that back them up, or none, the last backup and the next run.",
  params: Type.Object({}),
  result: Type.Object({
    protected: Type.Array(CoveredVm),
    notProtected: Type.Array(CoveredVm),
    excluded: Type.Array(CoveredVm),
    next: Type.Array(
      Type.Object({
        jobId: Type.String(),
        scheduleId: Type.String(),
        at: Type.Number({ description: "Time, in ms since the epoch." }),
      }),
    ),
  }),
  permission: "admin",
  rest: {
    method: "get",
    path: "/backup-coverage",
    operationId: "GetBackupCoverage",
    exposure: "allow",
  },
  handler: (_params, { services }) => services.backupCoverage.read(),
});

function toTime(value: number | string | undefined): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  const time = Date.parse(value);
  if (!Number.isNaN(time)) return time;
  throw new XoError("INVALID_PARAMETERS", {
    reason: `${value.slice(0, 64)} is not a date`,
  });
}

/** Logs of backup jobs, and the VMs that no job backs up. */
export const backupLogOperations = [
  backupNgGetAllLogs,
  backupNgGetLogs,
  backupLogGetAll,
  backupLogGet,
  backupCoverage,
];
