import { Type } from "typebox";
import {
  fromContractMirrorJob,
  toContractMirrorJob,
  toMirrorRunInput,
} from "../backups/report/contract-mirror-job.js";
import {
  ContractJobs,
  jobId as id,
  jobParts,
  newSchedules,
  open,
  PublicJob,
  vmRunParts,
} from "./contract-jobs.js";
import { defineOperation } from "./define-operation.js";
import { resumesRun } from "./job-run.js";

const ID = "00000000-0000-4000-8000-000000000004";
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;
const TYPE = "mirrorBackup";
const FOLDER = "/backup/jobs/mirror";

const exampleJob = {
  id: ID,
  type: TYPE,
  name: "copy to the other site",
  mode: "delta",
  sourceRemote: ID,
  remotes: { id: ID },
  settings: { [ID]: { exportRetention: 30 } },
};

const jobs = new ContractJobs({
  type: TYPE,
  name: "mirror backup job",
  toContract: toContractMirrorJob,
  fromContract: fromContractMirrorJob,
  toRunInput: toMirrorRunInput,
});

export const mirrorBackupGetAllJobs = defineOperation({
  name: "mirrorBackup.getAllJobs",
  summary:
    "Lists the jobs that copy backups of a repository into others. Callers without admin rights get an empty list.",
  params: Type.Object({}),
  result: Type.Array(PublicJob),
  permission: "user",
  rest: {
    method: "get",
    path: FOLDER,
    operationId: "GetMirrorBackupJobs",
    exposure: "allow",
    example: [exampleJob],
  },
  handler: (_params, context) => jobs.list(context),
});

export const mirrorBackupGetJob = defineOperation({
  name: "mirrorBackup.getJob",
  summary: "Returns a job that copies backups of a repository into others.",
  params: Type.Object({ id }, closed),
  result: PublicJob,
  permission: "admin",
  rest: {
    method: "get",
    path: `${FOLDER}/{id}`,
    operationId: "GetMirrorBackupJob",
    exposure: "allow",
    example: exampleJob,
  },
  handler: ({ id }, { services }) => jobs.get(services, id),
});

const contractParts = {
  ...jobParts,
  mode: Type.Enum(["full", "delta"], {
    description:
      "Has no effect: each copy is complete, and only what differs is copied.",
  }),
  sourceRemote: Type.String({
    minLength: 1,
    maxLength: 128,
    description: "Id of the source repository.",
  }),
  remotes: Type.Object(
    {},
    {
      additionalProperties: true,
      description: "{id} or {id: {__or: [ids]}} of backup repositories.",
    },
  ),
  filter: open("{id} or {id: {__or: [ids]}} of VMs; default: all backups."),
  settings: open(
    "By id of a schedule: exportRetention, longTermRetention; those of all schedules have the key ``: concurrency, maxExportRate.",
  ),
};

export const mirrorBackupCreateJob = defineOperation({
  ...change,
  name: "mirrorBackup.createJob",
  summary:
    "Creates a job that copies backups of a repository into others, with its schedules. Returns its id.",
  params: Type.Object(
    { ...contractParts, schedules: Type.Optional(newSchedules) },
    closed,
  ),
  result: Type.String(),
  handler: (input, context) => jobs.create(context, input),
});

export const mirrorBackupEditJob = defineOperation({
  ...change,
  name: "mirrorBackup.editJob",
  summary:
    "Changes a job that copies backups of a repository into others. Absent settings stay.",
  params: Type.Object({ ...contractParts, id }, closed),
  result: Type.Boolean(),
  handler: (input, { services }) => jobs.edit(services, input),
});

export const mirrorBackupDeleteJob = defineOperation({
  ...change,
  name: "mirrorBackup.deleteJob",
  summary: "Deletes a job with its schedules; its copies stay.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  handler: ({ id }, { services }) => jobs.delete(services, id),
});

export const mirrorBackupRunJob = defineOperation({
  ...change,
  name: "mirrorBackup.runJob",
  summary:
    "Runs a mirror job for a schedule, and returns when the run has ended.",
  params: Type.Object(vmRunParts, closed),
  result: Type.Boolean(),
  handler: (input, context) => jobs.run(context, input),
  ...resumesRun,
});

/** Jobs that copy backups, by the names of Xen Orchestra's clients. */
export const mirrorJobOperations = [
  mirrorBackupGetAllJobs,
  mirrorBackupGetJob,
  mirrorBackupCreateJob,
  mirrorBackupEditJob,
  mirrorBackupDeleteJob,
  mirrorBackupRunJob,
];
