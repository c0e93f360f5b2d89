import { XoError } from "@xo-server/model";
import type { JobRun } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { jobTypes } from "../../jobs/check-job.js";
import type { RunState } from "../../jobs/runs.js";
import type { InterruptedTask } from "../../tasks/interrupted-task.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";

const jobId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a job.",
});
const runId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a run.",
});
const statuses = [
  "queued",
  "pending",
  "success",
  "failure",
  "partial",
  "skipped",
  "interrupted",
  "aborted",
] as const;
const status = Type.Optional(
  Type.Enum(statuses as readonly JobRun["status"][], {
    description: "Only runs with this status.",
  }),
);
const closed = { additionalProperties: false } as const;
/** Maximum number of runs in a list without pages. */
const MAX_LISTED = 1_000;

const PublicRun = Type.Object(
  {
    id: Type.String(),
    jobId: Type.String(),
    jobName: Type.String(),
    scheduleId: Type.Optional(Type.String()),
    userId: Type.Optional(Type.String()),
    status: Type.String(),
    due: Type.Optional(Type.Integer()),
    start: Type.Integer(),
    end: Type.Optional(Type.Integer()),
    taskId: Type.Optional(Type.String()),
  },
  {
    additionalProperties: true,
    description:
      "With calls, succeeded, failed, leftOut, notBegun, error and reason; times in ms since the epoch.",
  },
);

const Started = Type.Object({
  runId: Type.String(),
  status: Type.String(),
  taskId: Type.Optional(Type.String()),
});

const change = { permission: "admin", changes: true } as const;

const example = {
  id: "00000000-0000-4000-8000-000000000004",
  jobId: "00000000-0000-4000-8000-000000000003",
  jobName: "nightly",
  status: "success",
  start: 1_790_000_000_000,
  end: 1_790_000_060_000,
  taskId: "0abc12-xyz",
  calls: [],
  succeeded: 3,
  failed: 0,
};

/** For operations that execute a run in their task, which continues after a restart. */
export const resumesRun = {
  resumesAtOnce: true,
  resume: (
    state: RunState,
    { services, task }: OperationContext,
    interrupted: InterruptedTask,
  ) => services.jobs.resume(state, task, interrupted),
};

const jobRunNow = defineOperation({
  ...change,
  name: "job.runNow",
  summary:
    "Run a job. Returns when the run has started, or with `wait` when it has ended.",
  params: Type.Object(
    {
      id: jobId,
      wait: Type.Optional(
        Type.Boolean({
          description: "Returns when the run has ended. Default: false.",
        }),
      ),
    },
    closed,
  ),
  result: Started,
  rest: {
    method: "post",
    path: "/jobs/{id}/actions/run",
    operationId: "RunJob",
    exposure: "confirm",
    isAction: true,
    params: { wait: true },
  },
  async handler({ id, wait = false }, { task, services }) {
    const own = task.taskId === undefined ? undefined : task;
    const { run, ended } = await services.jobs.begin({ jobId: id }, own);
    return wait ? ended : { runId: run.id, status: run.status };
  },
  ...resumesRun,
});

const jobRunSequence = defineOperation({
  ...change,
  name: "job.runSequence",
  summary: "Run jobs one after another, until one fails.",
  params: Type.Object(
    {
      idSequence: Type.Array(jobId, {
        maxItems: 1_000,
        description: "Ids of the jobs, in order.",
      }),
    },
    closed,
  ),
  result: Type.Boolean(),
  async handler({ idSequence }, { services, task }) {
    const starts = idSequence.map((id) => ({
      jobId: services.jobs.get(id).id,
    }));
    await services.jobs.runSequence(starts, task);
    return true;
  },
});

const jobCancel = defineOperation({
  ...change,
  name: "job.cancel",
  summary: "Cancel a run, or the current runs of a job.",
  params: Type.Object(
    { runId: Type.Optional(runId), id: Type.Optional(jobId) },
    closed,
  ),
  result: Type.Boolean(),
  rest: {
    method: "post",
    path: "/job-runs/{runId}/actions/abort",
    operationId: "AbortJobRun",
    exposure: "confirm",
    isAction: true,
  },
  async handler({ runId: run, id }, { services }) {
    if (run !== undefined) await services.jobs.cancel(run);
    else if (id !== undefined) return (await services.jobs.cancelOf(id)) > 0;
    else
      throw new XoError("INVALID_PARAMETERS", {
        reason: "runId is required",
      });
    return true;
  },
});

const runOperations = [jobRunNow, jobRunSequence, jobCancel];

const about = { jobId: Type.Optional(jobId), status };

const jobRunList = defineOperation({
  name: "jobRun.list",
  summary: "List runs of jobs, newest first, in pages.",
  params: Type.Object(
    {
      ...about,
      type: Type.Optional(
        Type.Enum(jobTypes, { description: "Only runs of jobs of this type." }),
      ),
      types: Type.Optional(
        Type.Array(Type.Enum(jobTypes), {
          minItems: 1,
          maxItems: jobTypes.length,
          description: "Only runs of jobs of one of these types.",
        }),
      ),
      fields: Type.Optional(
        Type.Enum(["all", "summary"], {
          description: "`summary`: without calls and VMs; default: all.",
        }),
      ),
      limit: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 100,
        description: "Maximum number of runs in a page.",
      }),
      cursor: Type.Optional(
        Type.String({
          maxLength: 256,
          description: "Cursor of the previous page.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Object({
    runs: Type.Array(PublicRun),
    cursor: Type.Optional(Type.String()),
  }),
  permission: "admin",
  async handler({ type, types, fields, ...options }, { services }) {
    const requested = new Set<string>(type === undefined ? types : [type]);
    const jobIds = [...services.jobs.list()]
      .filter((job) => requested.has(job.type))
      .map(({ id }) => id);
    const { runs, cursor } = await services.store.jobRuns.list({
      ...options,
      ...(requested.size === 0 ? {} : { jobIds }),
    });
    const next = cursor === undefined ? {} : { cursor };
    const toListed = fields === "summary" ? toSummary : toPublic;
    return { runs: runs.map(toListed), ...next };
  },
});

const jobRunGetAll = defineOperation({
  name: "jobRun.getAll",
  summary: `List the newest ${MAX_LISTED} runs of jobs.`,
  params: Type.Object(about, closed),
  result: Type.Array(PublicRun),
  permission: "admin",
  rest: {
    method: "get",
    path: "/job-runs",
    operationId: "GetJobRuns",
    exposure: "allow",
    example: [example],
  },
  async handler(options, { services }) {
    const page = await services.store.jobRuns.list({
      ...options,
      limit: MAX_LISTED,
    });
    return page.runs.map(toPublic);
  },
});

const jobRunGet = defineOperation({
  name: "jobRun.get",
  summary: "Return a run of a job: its calls and their outcomes.",
  params: Type.Object({ id: runId }, closed),
  result: PublicRun,
  permission: "admin",
  rest: {
    method: "get",
    path: "/job-runs/{id}",
    operationId: "GetJobRun",
    exposure: "allow",
    example,
  },
  async handler({ id }, { services }) {
    const run = await services.store.jobRuns.get(id);
    if (run !== undefined) return toPublic(run);
    throw new XoError("NO_SUCH_OBJECT", { type: "run", id });
  },
});

const logOperations = [jobRunList, jobRunGetAll, jobRunGet];

function toPublic(run: JobRun): Static<typeof PublicRun> {
  const { owner, dueAt, startedAt, endedAt, body, ...others } = run;
  void owner;
  return {
    ...(body as object),
    ...others,
    start: startedAt,
    ...(dueAt === undefined ? {} : { due: dueAt }),
    ...(endedAt === undefined ? {} : { end: endedAt }),
  };
}

/** Omits members that grow with the number of calls, VMs or other items. */
function toSummary(run: JobRun): Static<typeof PublicRun> {
  const left = new Set(["calls", "vms", "items"]);
  const members = Object.entries(run.body as object);
  const body = members.filter(([key]) => !left.has(key));
  return toPublic({ ...run, body: Object.fromEntries(body) });
}

/** Runs of jobs, and their results. */
export const jobRunOperations = [...runOperations, ...logOperations];
