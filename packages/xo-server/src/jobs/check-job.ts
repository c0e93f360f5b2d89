import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { Value } from "typebox/value";
import {
  BackupBody,
  CallBody,
  RestoreTestBody,
  SnapshotBody,
} from "./job-body.js";
import type { JobParts } from "./jobs.js";
import { isEmptyMetadata, MetadataBody } from "./metadata-body.js";
import { MirrorBody } from "./mirror-body.js";
import { RollingBody } from "./rolling-body.js";
import { UsageReportBody } from "./usage-report-body.js";

const common = {
  name: Type.Optional(Type.String({ maxLength: 1024 })),
  userId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "Id of the user whose rights apply. Default: the caller.",
    }),
  ),
};

const CallJob = Type.Object(
  { type: Type.Literal("call"), ...common, ...CallBody.properties },
  { additionalProperties: false },
);
const SnapshotJob = Type.Object(
  { type: Type.Literal("snapshot"), ...common, ...SnapshotBody.properties },
  { additionalProperties: false },
);

const BackupJob = Type.Object(
  { type: Type.Literal("backup"), ...common, ...BackupBody.properties },
  { additionalProperties: false },
);

const RestoreTestJob = Type.Object(
  {
    type: Type.Literal("restore-test"),
    ...common,
    ...RestoreTestBody.properties,
  },
  { additionalProperties: false },
);

const RollingJob = Type.Object(
  { type: Type.Literal("rollingUpdate"), ...common, ...RollingBody.properties },
  { additionalProperties: false },
);

const UsageReportJob = Type.Object(
  {
    type: Type.Literal("usageReport"),
    ...common,
    ...UsageReportBody.properties,
  },
  { additionalProperties: false },
);

const MetadataJob = Type.Object(
  {
    type: Type.Literal("metadataBackup"),
    ...common,
    ...MetadataBody.properties,
  },
  { additionalProperties: false },
);

const MirrorJob = Type.Object(
  { type: Type.Literal("mirrorBackup"), ...common, ...MirrorBody.properties },
  { additionalProperties: false },
);

/** A job in the API: the members of its body are on the same level as its name. */
export const JobShape = Type.Union(
  [
    CallJob,
    SnapshotJob,
    BackupJob,
    RestoreTestJob,
    RollingJob,
    UsageReportJob,
    MetadataJob,
    MirrorJob,
  ],
  {
    description:
      "`call` calls an operation, once or for many parameters; `snapshot` takes snapshots of VMs and deletes its own old ones; `backup` backs up VMs to repositories; `restore-test` starts VMs of backups in a closed network; `rollingUpdate` updates all hosts of pools while their VMs run; `usageReport` sends a report of the resource usage of pools by mail; `metadataBackup` backs up databases of pools and the configuration of the server; `mirrorBackup` copies backups of a repository into others.",
  },
);

const schemas = {
  call: CallJob,
  snapshot: SnapshotJob,
  backup: BackupJob,
  "restore-test": RestoreTestJob,
  rollingUpdate: RollingJob,
  usageReport: UsageReportJob,
  metadataBackup: MetadataJob,
  mirrorBackup: MirrorJob,
} as const;
export type JobType = keyof typeof schemas;
/** The types of jobs. */
export const jobTypes = Object.keys(schemas) as JobType[];

/** @throws XoError INVALID_PARAMETERS */
export function toJobParts(input: object): JobParts {
  const { type }: { type?: unknown } = input;
  if (!isJobType(type))
    throw invalid(`type must be one of ${jobTypes.join(", ")}`);
  const [error] = Value.Errors(schemas[type], input);
  if (error !== undefined)
    throw invalid(`job${error.instancePath}: ${error.message}`);
  const {
    name = "",
    userId,
    ...others
  } = input as typeof input & {
    readonly name?: string;
    readonly userId?: string;
  };
  const body = Object.fromEntries(
    Object.entries(others).filter(([key]) => key !== "type"),
  );
  if (type === "snapshot" || type === "backup" || type === "restore-test")
    checkSelection(type, body);
  if (type === "snapshot" || type === "backup")
    checkRetention(type, body as SnapshotBody);
  checkReport(body);
  if (type === "metadataBackup" && isEmptyMetadata(body))
    throw invalid("a metadataBackup job needs pools or the configuration");
  return { type, name, body, ...(userId === undefined ? {} : { userId }) };
}

function isJobType(type: unknown): type is keyof typeof schemas {
  return typeof type === "string" && Object.hasOwn(schemas, type);
}

function checkSelection(
  type: string,
  {
    vms,
    filter,
    pattern,
  }: Pick<Partial<BackupBody>, "vms" | "filter" | "pattern">,
): void {
  const isChosen = filter !== undefined || pattern !== undefined;
  if (!isChosen && (vms === undefined || vms.length === 0))
    throw invalid(`a ${type} job needs VMs or a filter`);
}

function checkRetention(
  type: "snapshot" | "backup",
  { retention }: Pick<SnapshotBody, "retention">,
): void {
  if (!Object.values(retention).some((count) => count > 0))
    throw invalid(`a ${type} job must keep at least one ${type}`);
}

function checkReport({ report }: Pick<Partial<BackupBody>, "report">): void {
  const wrong = report?.webHooks?.findIndex((url) => !URL.canParse(url)) ?? -1;
  if (wrong >= 0)
    throw invalid(`job/report/webHooks/${wrong} is not a valid URL`);
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
