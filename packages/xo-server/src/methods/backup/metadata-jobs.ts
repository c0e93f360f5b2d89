import { Type } from "typebox";
import {
  fromContractMetadataJob,
  toContractMetadataJob,
  type ContractMetadataInput,
} from "../../backups/report/contract-metadata-job.js";
import {
  ContractJobs,
  jobId as id,
  jobParts,
  newSchedules,
  openObject,
  PublicJob,
  runParts,
} from "../jobs/contract-jobs.js";
import { defineOperation } from "../definition/define-operation.js";
import { resumesRun } from "../jobs/job-run.js";

const ID = "00000000-0000-4000-8000-000000000004";
const closed = { additionalProperties: false } as const;
const change = { permission: "admin", changes: true } as const;
const TYPE = "metadataBackup";
const FOLDER = "/backup/jobs/metadata";

const exampleJob = {
  id: ID,
  type: TYPE,
  name: "pools and server",
  remotes: { id: ID },
  pools: { id: ID },
  xoMetadata: true,
  settings: { [ID]: { retentionPoolMetadata: 7, retentionXoMetadata: 7 } },
};

const jobs = new ContractJobs({
  type: TYPE,
  name: "metadata backup job",
  toContract: toContractMetadataJob,
  fromContract: fromContractMetadataJob,
  toRunInput: (settings): ContractMetadataInput => ({ settings }),
});

const metadataBackupGetAllJobs = defineOperation({
  name: "metadataBackup.getAllJobs",
  summary:
    "List the jobs that back up databases of pools or the configuration of the server. Callers without admin rights get an empty list.",
  params: Type.Object({}),
  result: Type.Array(PublicJob),
  permission: "user",
  rest: {
    method: "get",
    path: FOLDER,
    operationId: "GetMetadataBackupJobs",
    exposure: "allow",
    example: [exampleJob],
  },
  handler: (_params, context) => jobs.list(context),
});

const metadataBackupGetJob = defineOperation({
  name: "metadataBackup.getJob",
  summary:
    "Return a job that backs up databases of pools or the configuration of the server.",
  params: Type.Object({ id }, closed),
  result: PublicJob,
  permission: "admin",
  rest: {
    method: "get",
    path: `${FOLDER}/{id}`,
    operationId: "GetMetadataBackupJob",
    exposure: "allow",
    example: exampleJob,
  },
  handler: ({ id }, { services }) => jobs.get(services, id),
});

const pools = Type.Object(
  {},
  {
    additionalProperties: true,
    description: "Pools: {id}, or {id: {__or: [ids]}}.",
  },
);
const xoMetadata = Type.Optional(
  Type.Boolean({
    description: "Whether the configuration of the server is backed up.",
  }),
);

const metadataBackupCreateJob = defineOperation({
  ...change,
  name: "metadataBackup.createJob",
  summary:
    "Create a job that backs up databases of pools or the configuration of the server, with its schedules, and return its id.",
  params: Type.Object(
    {
      ...jobParts,
      pools: Type.Optional(pools),
      schedules: Type.Optional(newSchedules),
      settings: openObject(
        "Settings (retentionPoolMetadata, retentionXoMetadata), by the id of a schedule.",
      ),
      xoMetadata,
    },
    closed,
  ),
  result: Type.String(),
  handler: (input, context) => jobs.create(context, input),
});

const metadataBackupEditJob = defineOperation({
  ...change,
  name: "metadataBackup.editJob",
  summary:
    "Change a job that backs up databases of pools or the configuration of the server. Absent properties are not changed.",
  params: Type.Object(
    {
      ...jobParts,
      id,
      pools: Type.Optional(Type.Union([pools, Type.Null()])),
      xoMetadata,
    },
    closed,
  ),
  result: Type.Boolean(),
  handler: (input, { services }) => jobs.edit(services, input),
});

const metadataBackupDeleteJob = defineOperation({
  ...change,
  name: "metadataBackup.deleteJob",
  summary: "Delete a job with its schedules. Its backups are not deleted.",
  params: Type.Object({ id }, closed),
  result: Type.Boolean(),
  handler: ({ id }, { services }) => jobs.delete(services, id),
});

const metadataBackupRunJob = defineOperation({
  ...change,
  name: "metadataBackup.runJob",
  summary:
    "Run a metadata backup job with the settings of a schedule. Returns when the run has ended.",
  params: Type.Object(runParts, closed),
  result: Type.Boolean(),
  handler: (input, context) => jobs.run(context, input),
  ...resumesRun,
});

/** Metadata backup jobs, by the method names of Xen Orchestra's clients. */
export const metadataJobOperations = [
  metadataBackupGetAllJobs,
  metadataBackupGetJob,
  metadataBackupCreateJob,
  metadataBackupEditJob,
  metadataBackupDeleteJob,
  metadataBackupRunJob,
];
