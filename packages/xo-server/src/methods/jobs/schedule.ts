import type { Schedule } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { createTimes, type Times } from "../../schedules/times.js";
import { defineOperation } from "../definition/define-operation.js";
import { resumesRun } from "./job-run.js";

const id = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a schedule.",
});
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;
const DAY_MS = 86_400_000;

const jobId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a job.",
});
const cron = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    "Cron expression of 5 fields, or of 6 with seconds, such as `0 2 * * MON-FRI`.",
});
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    "Time zone (IANA name), such as Europe/Paris. Default: that of the server.",
});
const how = {
  enabled: Type.Optional(Type.Boolean({ description: "Default: true." })),
  missed: Type.Optional(
    Type.Enum(["skip", "once"], {
      description:
        "Handling of runs that were missed while no server was running. skip: they are skipped; once: one run replaces them. Default: once.",
    }),
  ),
  overlap: Type.Optional(
    Type.Enum(["skip", "queue"], {
      description:
        "Handling of a scheduled time at which the job is still running. skip: the run is skipped; queue: it starts when the running one ends. Default: skip.",
    }),
  ),
};
const missedLimitMs = Type.Integer({
  minimum: 0,
  maximum: 366 * DAY_MS,
  description: "Maximum age of a missed run, in ms; older ones are skipped.",
});

const PublicSchedule = Type.Object({
  id: Type.String(),
  jobId: Type.String(),
  cron: Type.String(),
  enabled: Type.Boolean(),
  name: Type.String(),
  timezone: Type.Optional(Type.String()),
  missed: Type.String(),
  missedLimitMs: Type.Optional(Type.Integer()),
  overlap: Type.String(),
});

const example = {
  id: "00000000-0000-4000-8000-000000000003",
  jobId: "00000000-0000-4000-8000-000000000003",
  cron: "0 2 * * *",
  enabled: true,
  name: "nightly",
  timezone: "Europe/Paris",
  missed: "once",
  overlap: "skip",
};

const scheduleGetAll = defineOperation({
  name: "schedule.getAll",
  summary: "List the schedules of jobs.",
  params: Type.Object({}),
  result: Type.Array(PublicSchedule),
  permission: "admin",
  rest: {
    method: "get",
    path: "/schedules",
    operationId: "GetSchedules",
    exposure: "allow",
    example: [example],
  },
  handler: (_params, { services }) =>
    Array.from(services.jobs.schedules(), toPublic),
});

const scheduleGet = defineOperation({
  name: "schedule.get",
  summary: "Return a schedule.",
  params: Type.Object({ id }, closed),
  result: PublicSchedule,
  permission: "admin",
  rest: {
    method: "get",
    path: "/schedules/{id}",
    operationId: "GetSchedule",
    exposure: "allow",
    example,
  },
  handler: (params, { services }) =>
    toPublic(services.jobs.schedule(params.id)),
});

/** 2100-01-01, because croner only searches some years ahead. */
const MAX_MS = 4_102_444_800_000;

const schedulePreview = defineOperation({
  name: "schedule.preview",
  summary: "Return the next times of a cron expression, in ms since the epoch.",
  params: Type.Object(
    {
      cron,
      timezone: Type.Optional(timezone),
      count: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 20,
          description: "Number of times. Default: 5.",
        }),
      ),
      from: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MAX_MS,
          description:
            "Only times after this one, in ms since the epoch. Default: now.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Array(Type.Number()),
  permission: "admin",
  handler: ({ cron, timezone, count = 5, from }, { services }) =>
    nextTimes(createTimes(cron, timezone), count, from ?? services.clock.now()),
});

const readOperations = [scheduleGetAll, scheduleGet, schedulePreview];

function nextTimes(times: Times, count: number, from: number): number[] {
  const found: number[] = [];
  let at: number | undefined = from;
  while (found.length < count) {
    at = times.next(at);
    if (at === undefined) break;
    found.push(at);
  }
  return found;
}

const scheduleCreate = defineOperation({
  ...change,
  name: "schedule.create",
  summary: "Create a schedule of a job and return it.",
  params: Type.Object(
    {
      jobId,
      cron,
      ...how,
      name: Type.Optional(
        Type.String({ maxLength: 1024, description: "Name of the schedule." }),
      ),
      timezone: Type.Optional(timezone),
      missedLimitMs: Type.Optional(missedLimitMs),
    },
    closed,
  ),
  result: PublicSchedule,
  rest: {
    method: "post",
    path: "/schedules",
    operationId: "CreateSchedule",
    exposure: "confirm",
    status: 201,
  },
  handler: async (input, { services }) =>
    toPublic(await services.jobs.createSchedule(input)),
});

const scheduleSet = defineOperation({
  ...change,
  name: "schedule.set",
  summary: "Change a schedule. Absent properties are not changed.",
  params: Type.Object(
    {
      id,
      ...how,
      jobId: Type.Optional(jobId),
      cron: Type.Optional(cron),
      name: Type.Optional(
        Type.Union([Type.String({ maxLength: 1024 }), Type.Null()]),
      ),
      timezone: Type.Optional(Type.Union([timezone, Type.Null()])),
      missedLimitMs: Type.Optional(Type.Union([missedLimitMs, Type.Null()])),
    },
    closed,
  ),
  result: Type.Boolean(),
  rest: {
    method: "patch",
    path: "/schedules/{id}",
    operationId: "UpdateSchedule",
    exposure: "confirm",
    status: 204,
  },
  async handler({ id: scheduleId, ...input }, { services }) {
    const patch = Object.entries(input).map(([key, value]) => [
      key,
      value ?? undefined,
    ]);
    await services.jobs.setSchedule(
      scheduleId,
      Object.fromEntries(patch) as object,
    );
    return true;
  },
});

const scheduleDelete = defineOperation({
  ...change,
  name: "schedule.delete",
  summary: "Delete a schedule. Its job is not deleted.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  rest: {
    method: "delete",
    path: "/schedules/{id}",
    operationId: "DeleteSchedule",
    exposure: "confirm",
    status: 204,
  },
  async handler(params, { services }) {
    await services.jobs.deleteSchedule(params.id);
    return true;
  },
});

const changeOperations = [scheduleCreate, scheduleSet, scheduleDelete];

const scheduleRun = defineOperation({
  ...change,
  name: "schedule.run",
  summary: "Run the job of a schedule now. Returns when the run has ended.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  rest: {
    method: "post",
    path: "/schedules/{id}/actions/run",
    operationId: "RunSchedule",
    exposure: "confirm",
    isAction: true,
  },
  async handler(params, { task, services }) {
    const own = task.taskId === undefined ? undefined : task;
    const start = services.jobs.startOf(params.id);
    await (
      await services.jobs.begin(start, own)
    ).ended;
    return true;
  },
  ...resumesRun,
});

const scheduleRunSequence = defineOperation({
  ...change,
  name: "schedule.runSequence",
  summary: "Run the jobs of schedules one after another, until one fails.",
  params: Type.Object(
    {
      schedules: Type.Array(id, {
        maxItems: 1_000,
        description: "Ids of the schedules, in order.",
      }),
    },
    closed,
  ),
  result: Type.Boolean(),
  async handler({ schedules }, { services, task }) {
    const starts = schedules.map((one) => services.jobs.startOf(one));
    await services.jobs.runSequence(starts, task);
    return true;
  },
});

const runOperations = [scheduleRun, scheduleRunSequence];

function toPublic(schedule: Schedule): Static<typeof PublicSchedule> {
  const { createdAt, updatedAt, ...others } = schedule;
  void [createdAt, updatedAt];
  return others;
}

/** Schedules of jobs. */
export const scheduleOperations = [
  ...readOperations,
  ...changeOperations,
  ...runOperations,
];
