import type { Schedule } from "@xo-server/store";
import { Type, type Static } from "typebox";
import type { Jobs } from "../jobs/jobs.js";
import { createTimes, type Times } from "../jobs/times.js";
import { defineOperation, type Operation } from "../operations/operation.js";

const id = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Of a schedule.",
});
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;
const DAY_MS = 86_400_000;

const jobId = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Of a job.",
});
const cron = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "5 fields, or 6 with seconds: `0 2 * * MON-FRI`.",
});
const timezone = Type.String({
  minLength: 1,
  maxLength: 64,
  description: "Such as Europe/Paris; default: that of the server.",
});
const how = {
  enabled: Type.Optional(Type.Boolean({ description: "Default: true." })),
  missed: Type.Optional(
    Type.Enum(["skip", "once"], {
      description:
        "Times at which no server was there are skipped, or made up for once; default: once.",
    }),
  ),
  overlap: Type.Optional(
    Type.Enum(["skip", "queue"], {
      description:
        "A time at which the job is still being done is skipped, or waits; default: skip.",
    }),
  ),
};
const missedLimitMs = Type.Integer({
  minimum: 0,
  maximum: 366 * DAY_MS,
  description: "What was missed longer ago is skipped, in ms.",
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

/** When jobs are done. */
export function scheduleMethods(jobs: Jobs): Operation[] {
  return [...readMethods(jobs), ...changeMethods(jobs), ...runMethods(jobs)];
}

function readMethods(jobs: Jobs): Operation[] {
  return [
    defineOperation({
      name: "schedule.getAll",
      summary: "All schedules of jobs.",
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
      handler: () => Array.from(jobs.schedules(), toPublic),
    }),
    defineOperation({
      name: "schedule.get",
      summary: "One schedule.",
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
      handler: (params) => toPublic(jobs.schedule(params.id)),
    }),
    defineOperation({
      name: "schedule.preview",
      summary: "The next times that a cron expression means, in ms.",
      params: Type.Object(
        {
          cron,
          timezone: Type.Optional(timezone),
          count: Type.Optional(Type.Integer({ minimum: 1, maximum: 20 })),
        },
        closed,
      ),
      result: Type.Array(Type.Number()),
      permission: "admin",
      handler: ({ cron, timezone, count = 5 }) =>
        nextTimes(createTimes(cron, timezone), count),
    }),
  ];
}

function nextTimes(times: Times, count: number): number[] {
  const found: number[] = [];
  let at: number | undefined = Date.now();
  while (found.length < count) {
    at = times.next(at);
    if (at === undefined) break;
    found.push(at);
  }
  return found;
}

function changeMethods(jobs: Jobs): Operation[] {
  return [
    defineOperation({
      ...change,
      name: "schedule.create",
      summary: "A new schedule of a job.",
      params: Type.Object(
        {
          jobId,
          cron,
          ...how,
          name: Type.Optional(Type.String({ maxLength: 1024 })),
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
      handler: async (given) => toPublic(await jobs.createSchedule(given)),
    }),
    defineOperation({
      ...change,
      name: "schedule.set",
      summary: "Changes a schedule; what is not given stays.",
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
          missedLimitMs: Type.Optional(
            Type.Union([missedLimitMs, Type.Null()]),
          ),
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
      async handler({ id: scheduleId, ...given }) {
        const patch = Object.entries(given).map(([key, value]) => [
          key,
          value ?? undefined,
        ]);
        await jobs.setSchedule(scheduleId, Object.fromEntries(patch) as object);
        return true;
      },
    }),
    defineOperation({
      ...change,
      name: "schedule.delete",
      summary: "Deletes a schedule; its job stays.",
      params: Type.Object({ id }, closed),
      result: Type.Boolean(),
      rest: {
        method: "delete",
        path: "/schedules/{id}",
        operationId: "DeleteSchedule",
        exposure: "confirm",
        status: 204,
      },
      async handler(params) {
        await jobs.deleteSchedule(params.id);
        return true;
      },
    }),
  ];
}

function runMethods(jobs: Jobs): Operation[] {
  return [
    defineOperation({
      ...change,
      name: "schedule.run",
      summary: "Does the job of a schedule now, and waits for its end.",
      params: Type.Object({ id }, closed),
      result: Type.Boolean(),
      rest: {
        method: "post",
        path: "/schedules/{id}/actions/run",
        operationId: "RunSchedule",
        exposure: "confirm",
        isAction: true,
      },
      async handler(params, { task: work }) {
        const own = work.taskId === undefined ? undefined : work;
        const start = jobs.startOf(params.id);
        await (
          await jobs.begin(start, own)
        ).ended;
        return true;
      },
    }),
    defineOperation({
      ...change,
      name: "schedule.runSequence",
      summary:
        "Does the jobs of schedules one after the other, until one fails.",
      params: Type.Object(
        { schedules: Type.Array(id, { maxItems: 1_000 }) },
        closed,
      ),
      result: Type.Boolean(),
      async handler({ schedules }, { task: work }) {
        const starts = schedules.map((one) => jobs.startOf(one));
        await jobs.runSequence(starts, work);
        return true;
      },
    }),
  ];
}

function toPublic(schedule: Schedule): Static<typeof PublicSchedule> {
  const { createdAt, updatedAt, ...others } = schedule;
  void [createdAt, updatedAt];
  return others;
}
