import { Type } from "typebox";
import {
  fromContractJob,
  toContractJob,
  type ContractJobInput,
} from "../../backups/report/contract-job.js";
import { DEFAULT_EXCLUDED_TAGS } from "../../backups/jobs/vm-selection.js";
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

const jobs = new ContractJobs({
  type: TYPE,
  name: "backup job",
  toContract: toContractJob,
  fromContract: fromContractJob,
  toRunInput: (settings): ContractJobInput => ({ settings }),
});

const backupNgGetAllJobs = defineOperation({
  name: "backupNg.getAllJobs",
  summary:
    "List the jobs that back up VMs. Callers without admin rights get an empty list.",
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
  handler: (_params, context) => jobs.list(context),
});

const backupNgGetJob = defineOperation({
  name: "backupNg.getJob",
  summary: "Return a job that backs up VMs.",
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
  handler: ({ id }, { services }) => jobs.get(services, id),
});

const contractParts = {
  ...jobParts,
  compression: Type.Optional(
    Type.Enum(["", "native", "zstd"], {
      description: "Accepted and ignored: repositories compress all data.",
    }),
  ),
  srs: openObject("Replication is not supported."),
};
const mode = Type.Enum(["full", "delta"], {
  description:
    "full: each backup reads all disks; delta: only changed blocks are read.",
});
const vms = Type.Object(
  {},
  {
    additionalProperties: true,
    description:
      "VMs to back up: {id}, {id: {__or: [ids]}}, or a pattern of properties.",
  },
);
const backupNgCreateJob = defineOperation({
  ...change,
  name: "backupNg.createJob",
  summary:
    "Create a job that backs up VMs, with its schedules, and return its id.",
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
  handler: (input, context) => jobs.create(context, input),
});

const backupNgEditJob = defineOperation({
  ...change,
  name: "backupNg.editJob",
  summary: "Change a job that backs up VMs. Absent properties are not changed.",
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
  handler: (input, { services }) => jobs.edit(services, input),
});

const backupNgDeleteJob = defineOperation({
  ...change,
  name: "backupNg.deleteJob",
  summary: "Delete a job with its schedules. Its backups are not deleted.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  handler: ({ id }, { services }) => jobs.delete(services, id),
});

const backupNgRunJob = defineOperation({
  ...change,
  name: "backupNg.runJob",
  summary:
    "Run a backup job with the settings of a schedule. Returns when the run has ended.",
  params: Type.Object(vmRunParts, closed),
  result: Type.Boolean(),
  handler: (input, context) => jobs.run(context, input),
  ...resumesRun,
});

const backupNgGetSuggestedExcludedTags = defineOperation({
  name: "backupNg.getSuggestedExcludedTags",
  summary: "List the tags of VMs that backup jobs exclude by default.",
  params: Type.Object({}),
  result: Type.Array(Type.String()),
  permission: "user",
  handler: () => [...DEFAULT_EXCLUDED_TAGS],
});

const vmGetBackupJobs = defineOperation({
  name: "vm.getBackupJobs",
  summary: "List the jobs that back up a VM.",
  params: Type.Object(
    { id: Type.String({ minLength: 1, description: "Id of a VM." }) },
    closed,
  ),
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
    return jobs
      .ofAll(services)
      .filter((job) => ids.has(job.id))
      .map((job) => jobs.toPublic(services, job));
  },
});

/** Backup jobs of VMs, by the method names of Xen Orchestra's clients. */
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
