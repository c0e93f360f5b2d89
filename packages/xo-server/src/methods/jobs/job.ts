import type { Job } from "@xo-server/store";
import { Type, type Static } from "typebox";
import { JobShape, toJobParts } from "../../jobs/check-job.js";
import { defineOperation } from "../definition/define-operation.js";
import { jobRunOperations } from "./job-run.js";

const id = Type.String({
  minLength: 1,
  maxLength: 128,
  description: "Id of a job.",
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

const jobGetAll = defineOperation({
  name: "job.getAll",
  summary: "List all jobs. Secrets among their parameters are masked.",
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
  handler: (_params, { services }) =>
    Array.from(services.jobs.list(), toPublic),
});

const jobGet = defineOperation({
  name: "job.get",
  summary: "Return a job. Secrets among its parameters are masked.",
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
  handler: (params, { services }) => toPublic(services.jobs.get(params.id)),
});

const jobPlan = defineOperation({
  name: "job.plan",
  summary:
    "Return the plan of a run that would start now: its calls, or the snapshots that it would take and delete.",
  params: Type.Object({ id }, closed),
  result: Type.Unknown(),
  permission: "admin",
  rest: {
    method: "get",
    path: "/jobs/{id}/plan",
    operationId: "PlanJob",
    exposure: "allow",
  },
  handler: (params, { services }) => services.jobs.plan(params.id),
});

const readOperations = [jobGetAll, jobGet, jobPlan];

const jobCreate = defineOperation({
  ...change,
  name: "job.create",
  summary: "Create a job and return its id.",
  params: Type.Object({ job: JobShape }, closed),
  result: Type.String(),
  rest: {
    method: "post",
    path: "/jobs",
    operationId: "CreateJob",
    exposure: "confirm",
    status: 201,
  },
  async handler({ job }, { user, services }) {
    const parts = toJobParts(job);
    const userId = parts.userId ?? user?.id;
    const owner = userId === undefined ? {} : { userId };
    return (await services.jobs.create({ ...parts, ...owner })).id;
  },
});

const jobSet = defineOperation({
  ...change,
  name: "job.set",
  summary:
    "Change a job. Absent properties and masked secrets are not changed; null removes a property.",
  params: Type.Object(
    {
      id: Type.Optional(id),
      job: Type.Object(
        { id: Type.Optional(id) },
        { additionalProperties: true, description: "Properties to change." },
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
  async handler(
    { id: input, job: { id: named = "", ...patch } },
    { services },
  ) {
    const jobId = input ?? named;
    const { id, ...old } = toPublic(services.jobs.get(jobId));
    await services.jobs.set(id, toJobParts(merge(old, patch)));
    return true;
  },
});

const jobDelete = defineOperation({
  ...change,
  name: "job.delete",
  summary: "Delete a job with its schedules. A run in progress continues.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  rest: {
    method: "delete",
    path: "/jobs/{id}",
    operationId: "DeleteJob",
    exposure: "confirm",
    status: 204,
  },
  async handler(params, { services }) {
    await services.jobs.delete(params.id);
    return true;
  },
});

const changeOperations = [jobCreate, jobSet, jobDelete];

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

/** Jobs: operations that are called for a user, on request or by a schedule. */
export const jobOperations = [
  ...readOperations,
  ...changeOperations,
  ...jobRunOperations,
];
