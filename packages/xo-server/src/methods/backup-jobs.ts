import type { Job } from "@xo-server/store";
import { Type } from "typebox";
import {
  fromContractJob,
  toContractJob,
  type ContractJob,
} from "../backups/report/contract-job.js";
import { DEFAULT_EXCLUDED_TAGS } from "../backups/jobs/vm-selection.js";
import type { BackupBody } from "../jobs/job-body.js";
import { toJobParts } from "../jobs/check-job.js";
import {
  createContractJob,
  jobId as id,
  jobOfType,
  jobParts,
  jobsOfType,
  newSchedules,
  open,
  PublicJob,
  runContractJob,
} from "./contract-jobs.js";
import { defineOperation, type OperationContext } from "./define-operation.js";
import { resumesRun } from "./job-run.js";

const ID = "00000000-0000-4000-8000-000000000004";
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;
const TYPE = "backup";

const exampleJob = {
  id: ID,
  type: TYPE,
  name: "nightly",
  mode: "delta",
  remotes: { id: ID },
  vms: { id: ID },
  settings: { "": { concurrency: 2 } },
};
type Services = OperationContext["services"];

function backupJobs(services: Services): Job[] {
  return jobsOfType(services, TYPE);
}

function toPublic({ store }: Services, job: Job): ContractJob {
  return toContractJob(job, store.schedules.ofJob(job.id));
}

/** @throws XoError NO_SUCH_OBJECT */
function backupJob(services: Services, id: string): Job {
  return jobOfType(services, { type: TYPE, name: "backup job" }, id);
}

export const backupNgGetAllJobs = defineOperation({
  name: "backupNg.getAllJobs",
  summary:
    "All jobs that back up VMs; a caller without admin rights gets none.",
  params: Type.Object({}),
  result: Type.Array(PublicJob),
  permission: "user",
  rest: [
    {
      method: "get",
      path: "/backup-jobs",
      operationId: "GetBackupJobs",
      exposure: "allow",
      example: [exampleJob],
    },
    {
      method: "get",
      path: "/backup/jobs/vm",
      operationId: "GetVmBackupJobs",
      exposure: "allow",
      example: [exampleJob],
    },
  ],
  handler: (_params, { services, permission }) =>
    permission === "admin"
      ? backupJobs(services).map((job) => toPublic(services, job))
      : [],
});

export const backupNgGetJob = defineOperation({
  name: "backupNg.getJob",
  summary: "A job that backs up VMs.",
  params: Type.Object({ id }, closed),
  result: PublicJob,
  permission: "admin",
  rest: [
    {
      method: "get",
      path: "/backup-jobs/{id}",
      operationId: "GetBackupJob",
      exposure: "allow",
      example: exampleJob,
    },
    {
      method: "get",
      path: "/backup/jobs/vm/{id}",
      operationId: "GetVmBackupJob",
      exposure: "allow",
      example: exampleJob,
    },
  ],
  handler: (params, { services }) =>
    toPublic(services, backupJob(services, params.id)),
});

const contractParts = {
  ...jobParts,
  compression: Type.Optional(Type.Enum(["", "native", "zstd"])),
  srs: open("Replication is not supported."),
};
const mode = Type.Enum(["full", "delta"]);
const vms = Type.Object(
  {},
  {
    additionalProperties: true,
    description: "{id}, {id: {__or: [ids]}}, or a pattern of properties.",
  },
);
export const backupNgCreateJob = defineOperation({
  ...change,
  name: "backupNg.createJob",
  summary: "Creates a job that backs up VMs, with its schedules; its id.",
  params: Type.Object(
    {
      ...contractParts,
      mode,
      vms,
      schedules: Type.Optional(newSchedules),
    },
    closed,
  ),
  result: Type.String(),
  handler: ({ schedules = {}, name = "", ...input }, context) =>
    createContractJob(context, {
      type: TYPE,
      name,
      schedules,
      input,
      toBody: (one) => fromContractJob(one),
    }),
});

export const backupNgEditJob = defineOperation({
  ...change,
  name: "backupNg.editJob",
  summary: "Changes a job that backs up VMs; absent properties stay.",
  params: Type.Object(
    {
      ...contractParts,
      id,
      mode: Type.Optional(mode),
      vms: Type.Optional(vms),
    },
    closed,
  ),
  result: Type.Boolean(),
  async handler({ id, name, ...input }, { services }) {
    const job = backupJob(services, id);
    const body = fromContractJob(input, job.body as BackupBody);
    const parts = toJobParts({ type: TYPE, name: name ?? job.name, ...body });
    await services.jobs.set(id, { name: parts.name, body: parts.body });
    return true;
  },
});

export const backupNgDeleteJob = defineOperation({
  ...change,
  name: "backupNg.deleteJob",
  summary: "Deletes a job with its schedules; its backups stay.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  async handler(params, { services }) {
    await services.jobs.delete(backupJob(services, params.id).id);
    return true;
  },
});

export const backupNgRunJob = defineOperation({
  ...change,
  name: "backupNg.runJob",
  summary: "Runs a backup job for a schedule, and waits for its end.",
  params: Type.Object(
    {
      id,
      schedule: Type.String({
        maxLength: 128,
        description: "Id of the schedule whose settings apply; empty: none.",
      }),
      settings: open("Not supported: settings of the job apply."),
      vm: Type.Optional(Type.String({ maxLength: 128 })),
      vms: Type.Optional(
        Type.Array(Type.String({ maxLength: 128 }), { maxItems: 10_000 }),
      ),
    },
    closed,
  ),
  result: Type.Boolean(),
  handler({ id, schedule, vm, vms }, context) {
    const chosen = vms ?? (vm === undefined ? undefined : [vm]);
    const job = backupJob(context.services, id);
    const choice = chosen === undefined ? undefined : { vms: chosen };
    return runContractJob(context, job, { schedule, choice });
  },
  ...resumesRun,
});

export const backupNgGetSuggestedExcludedTags = defineOperation({
  name: "backupNg.getSuggestedExcludedTags",
  summary: "Tags of VMs that jobs usually exclude.",
  params: Type.Object({}),
  result: Type.Array(Type.String()),
  permission: "user",
  handler: () => [...DEFAULT_EXCLUDED_TAGS],
});

export const vmGetBackupJobs = defineOperation({
  name: "vm.getBackupJobs",
  summary: "The jobs that back up a VM.",
  params: Type.Object({ id: Type.String({ minLength: 1 }) }, closed),
  result: Type.Array(PublicJob),
  permission: { action: "read", resource: "VM", id: ({ id }) => id },
  rest: {
    method: "get",
    path: "/vms/{id}/backup-jobs",
    operationId: "VmGetVmBackupJobs",
    exposure: "allow",
    example: [exampleJob],
  },
  async handler(params, { services, permission }) {
    if (permission !== "admin") return [];
    const ids = await services.backupCoverage.jobsOf(params.id);
    return backupJobs(services)
      .filter((job) => ids.has(job.id))
      .map((job) => toPublic(services, job));
  },
});

/** Jobs that back up VMs, by the names of Xen Orchestra's clients. */
export const backupJobOperations = [
  backupNgGetAllJobs,
  backupNgGetJob,
  backupNgCreateJob,
  backupNgEditJob,
  backupNgDeleteJob,
  backupNgRunJob,
  backupNgGetSuggestedExcludedTags,
  vmGetBackupJobs,
];
