import { Type } from "typebox";
import {
  fromContractMirrorJob,
  toContractMirrorJob,
  toMirrorRunInput,
} from "../../backups/report/contract-mirror-job.js";
import {
  ContractJobs,
  jobId as id,
  jobParts,
  newSchedules,
  openObject,
  PublicJob,
  vmRunParts,
} from "../jobs/contract-jobs.js";
import { defineOperation } from "../definition/define-operation.js";
import { resumesRun } from "../jobs/job-run.js";

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

const mirrorBackupGetAllJobs = defineOperation({
  name: "mirrorBackup.getAllJobs",
  summary:
    "List the jobs that copy backups of a repository into others. Callers without admin rights get an empty list.",
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

const mirrorBackupGetJob = defineOperation({
  name: "mirrorBackup.getJob",
  summary: "Return a job that copies backups of a repository into others.",
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
      "Accepted and ignored: each copy is complete, and only missing data is transferred.",
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
      description: "Backup repositories: {id}, or {id: {__or: [ids]}}.",
    },
  ),
  filter: openObject(
    "VMs whose backups are copied: {id}, or {id: {__or: [ids]}}. Default: all.",
  ),
  settings: openObject(
    "Settings (exportRetention, longTermRetention), by the id of a schedule; the key `` (empty) applies to all schedules: concurrency, maxExportRate.",
  ),
};

const mirrorBackupCreateJob = defineOperation({
  ...change,
  name: "mirrorBackup.createJob",
  summary:
    "Create a job that copies backups of a repository into others, with its schedules, and return its id.",
  params: Type.Object(
    { ...contractParts, schedules: Type.Optional(newSchedules) },
    closed,
  ),
  result: Type.String(),
  handler: (input, context) => jobs.create(context, input),
});

const mirrorBackupEditJob = defineOperation({
  ...change,
  name: "mirrorBackup.editJob",
  summary:
    "Change a job that copies backups of a repository into others. Absent properties are not changed.",
  params: Type.Object({ ...contractParts, id }, closed),
  result: Type.Boolean(),
  handler: (input, { services }) => jobs.edit(services, input),
});

const mirrorBackupDeleteJob = defineOperation({
  ...change,
  name: "mirrorBackup.deleteJob",
  summary: "Delete a job with its schedules. Its copies are not deleted.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  handler: ({ id }, { services }) => jobs.delete(services, id),
});

const mirrorBackupRunJob = defineOperation({
  ...change,
  name: "mirrorBackup.runJob",
  summary:
    "Run a mirror job with the settings of a schedule. Returns when the run has ended.",
  params: Type.Object(vmRunParts, closed),
  result: Type.Boolean(),
  handler: (input, context) => jobs.run(context, input),
  ...resumesRun,
});

/** Mirror jobs, which copy backups, by the method names of Xen Orchestra's clients. */
export const mirrorJobOperations = [
  mirrorBackupGetAllJobs,
  mirrorBackupGetJob,
  mirrorBackupCreateJob,
  mirrorBackupEditJob,
  mirrorBackupDeleteJob,
  mirrorBackupRunJob,
];
