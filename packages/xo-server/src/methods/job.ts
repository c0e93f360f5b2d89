import type { Job } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { JobShape, toJobParts } from "../jobs/check-job.js";
import type { Jobs } from "../jobs/jobs.js";
import { defineOperation, type Operation } from "../operations/operation.js";
import { jobRunMethods } from "./job-run.js";

const id = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Of a job.",
});
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;

const PublicJob = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    type: Type.String(),
    userId: Type.Optional(Type.String()),
  },
  { additionalProperties: true },
);

const example = {
  id: "00000000-0000-4000-8000-000000000003",
  name: "restart the web servers",
  type: "call",
  userId: "00000000-0000-4000-8000-000000000001",
  key: "genericTask",
  method: "vm.restart",
  paramsVector: {
    type: "crossProduct",
    items: [{ type: "set", values: [{ id: "…" }] }],
  },
};

/** What is done on somebody's behalf, when it is asked for or when a schedule says so. */
export function jobMethods(jobs: Jobs, store: JobRunStore): Operation[] {
  return [
    ...readMethods(jobs),
    ...changeMethods(jobs),
    ...jobRunMethods(jobs, store),
  ];
}

type JobRunStore = Parameters<typeof jobRunMethods>[1];

function readMethods(jobs: Jobs): Operation[] {
  return [
    defineOperation({
      name: "job.getAll",
      summary: "All jobs; secrets among their parameters are masked.",
      params: Type.Object({}),
      result: Type.Array(PublicJob),
      permission: "admin",
      rest: {
        method: "get",
        path: "/jobs",
        operationId: "GetJobs",
        exposure: "allow",
        example: [example],
      },
      handler: () => Array.from(jobs.list(), toPublic),
    }),
    defineOperation({
      name: "job.get",
      summary: "One job; secrets among its parameters are masked.",
      params: Type.Object({ id }, closed),
      result: PublicJob,
      permission: "admin",
      rest: {
        method: "get",
        path: "/jobs/{id}",
        operationId: "GetJob",
        exposure: "allow",
        example,
      },
      handler: (params) => toPublic(jobs.get(params.id)),
    }),
    defineOperation({
      name: "job.plan",
      summary:
        "What a run would do now: its calls, or the snapshots that it would take and delete.",
      params: Type.Object({ id }, closed),
      result: Type.Unknown(),
      permission: "admin",
      rest: {
        method: "get",
        path: "/jobs/{id}/plan",
        operationId: "PlanJob",
        exposure: "allow",
      },
      handler: (params) => jobs.plan(params.id),
    }),
  ];
}

function changeMethods(jobs: Jobs): Operation[] {
  return [
    defineOperation({
      ...change,
      name: "job.create",
      summary: "A new job; its id.",
      params: Type.Object({ job: JobShape }, closed),
      result: Type.String(),
      rest: {
        method: "post",
        path: "/jobs",
        operationId: "CreateJob",
        exposure: "confirm",
        status: 201,
      },
      async handler({ job }, { user: person }) {
        const parts = toJobParts(job);
        const userId = parts.userId ?? person?.id;
        const told = userId === undefined ? {} : { userId };
        return (await jobs.create({ ...parts, ...told })).id;
      },
    }),
    defineOperation({
      ...change,
      name: "job.set",
      summary:
        "Changes a job: what is not given stays, null takes away; a secret that is sent back masked stays.",
      params: Type.Object(
        {
          id: Type.Optional(id),
          job: Type.Object(
            { id: Type.Optional(id) },
            { additionalProperties: true },
          ),
        },
        closed,
      ),
      result: Type.Boolean(),
      rest: {
        method: "patch",
        path: "/jobs/{id}",
        operationId: "UpdateJob",
        exposure: "confirm",
        status: 204,
      },
      async handler({ id: given, job: { id: named = "", ...patch } }) {
        const jobId = given ?? named;
        const { id, ...old } = toPublic(jobs.get(jobId));
        await jobs.set(id, toJobParts(merge(old, patch)));
        return true;
      },
    }),
    defineOperation({
      ...change,
      name: "job.delete",
      summary: "Deletes a job with its schedules; what it is doing goes on.",
      params: Type.Object({ id }, closed),
      result: Type.Boolean(),
      rest: {
        method: "delete",
        path: "/jobs/{id}",
        operationId: "DeleteJob",
        exposure: "confirm",
        status: 204,
      },
      async handler(params) {
        await jobs.delete(params.id);
        return true;
      },
    }),
  ];
}

function merge(old: object, patch: object): object {
  return Object.fromEntries(
    [...new Map([...Object.entries(old), ...Object.entries(patch)])].filter(
      ([, value]) => value !== null && value !== undefined,
    ),
  );
}

function toPublic(job: Job): Static<typeof PublicJob> {
  const { id, name, type, userId, body } = job;
  return {
    ...(body as object),
    id,
    name,
    type,
    ...(userId === undefined ? {} : { userId }),
  };
}
