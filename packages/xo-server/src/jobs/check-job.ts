import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { BackupBody, CallBody, SnapshotBody } from "./job-body.js";
import type { JobParts } from "./jobs.js";

const common = {
  name: Type.Optional(Type.String({ maxLength: 1024 })),
  userId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: "User whose rights apply; default: the caller.",
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

/** A job in the API: the members of its body are next to its name. */
export const JobShape = Type.Union([CallJob, SnapshotJob, BackupJob], {
  description:
    "`call` calls an operation, once or for many parameters; `snapshot` takes snapshots of VMs and deletes its own old ones; `backup` backs up VMs to repositories.",
});

const schemas = {
  call: CallJob,
  snapshot: SnapshotJob,
  backup: BackupJob,
} as const;

/** @throws XoError INVALID_PARAMETERS */
export function toJobParts(input: object): JobParts {
  const { type }: { type?: unknown } = input;
  if (type !== "call" && type !== "snapshot" && type !== "backup")
    throw invalid("type must be call, snapshot or backup");
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
  if (type !== "call") checkPolicy(type, body as SnapshotBody);
  return { type, name, body, ...(userId === undefined ? {} : { userId }) };
}

function checkPolicy(
  type: "snapshot" | "backup",
  {
    vms,
    filter,
    retention,
    pattern,
  }: SnapshotBody & Pick<Partial<BackupBody>, "pattern">,
): void {
  const isChosen = filter !== undefined || pattern !== undefined;
  if (!isChosen && (vms === undefined || vms.length === 0))
    throw invalid(`a ${type} job needs VMs or a filter`);
  if (!Object.values(retention).some((count) => count > 0))
    throw invalid(`a ${type} job must keep at least one ${type}`);
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
