import type { ListFilesResult, ListVolumesResult } from "@xo-server/backup";
import { Type } from "typebox";
import {
  downloadFiles,
  listFiles,
  listVolumes,
  type FilesOfBackup,
} from "../../backups/restore/restore-files.js";
import { parseArchiveId } from "../../backups/archives/archive.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { failInterrupted, getFrom } from "../storage/disk-transfer.js";
import { archiveId, findVmBackup } from "./backup-archive.js";

const closed = { additionalProperties: false } as const;
/** Entries of one answer at most: the server sends them as one message. */
const MAX_ENTRIES = 2000;
const DEFAULT_ENTRIES = 500;

const disk = Type.String({
  minLength: 1,
  description: "Name of the disk in the backup.",
});
export const partition = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 512,
    description:
      "Id of the partition or logical volume. Default: the only one of the disk.",
  }),
);
export const path = Type.String({
  maxLength: 65_536,
  description: "Path in the file system, such as /etc. `/` is its root.",
});
export const paths = Type.Array(path, {
  minItems: 1,
  maxItems: 1000,
  description: "Paths of files and folders.",
});

const Partition = Type.Object({
  id: Type.String(),
  name: Type.String({
    description: "Of the partition table, or group and logical volume.",
  }),
  label: Type.String({ description: "Of the file system." }),
  start: Type.Optional(
    Type.Number({
      description:
        "Bytes from the beginning of the disk; not of logical volumes.",
    }),
  ),
  size: Type.Number({ description: "Bytes." }),
  partitionType: Type.Optional(
    Type.String({ description: "GUID, or code of MBR in hexadecimal." }),
  ),
  fileSystem: Type.Optional(
    Type.String({ description: "Absent: it is not known." }),
  ),
  problem: Type.Optional(
    Type.String({ description: "Why it cannot be read; absent: it can." }),
  ),
});

const EXAMPLE_PARTITION = {
  id: "1",
  name: "",
  label: "root",
  start: 1_048_576,
  size: 10_737_418_240,
  partitionType: "0x83",
  fileSystem: "ext4",
};

const backupListPartitions = defineOperation({
  name: "backup.listPartitions",
  summary:
    "List the partitions and LVM logical volumes of a disk of a backup, with their file systems. Nothing is mounted.",
  params: Type.Object({ id: archiveId, disk }, closed),
  result: Type.Array(Partition),
  permission: "user",
  changes: true,
  rest: {
    method: "get",
    path: "/backup-archives/{id}/disks/{disk}/partitions",
    operationId: "GetBackupArchivePartitions",
    exposure: "allow",
    example: [EXAMPLE_PARTITION],
  },
  handler: async ({ id, disk: name }, context) => {
    const files = await findDisk(context, { id, disk: name });
    const { volumes } = await listVolumes(files, context);
    return volumes.map(toPublic);
  },
});

function toPublic({
  content,
  start,
  partitionType,
  problem,
  ...volume
}: ListVolumesResult["volumes"][number]) {
  return {
    ...volume,
    ...(start === undefined ? {} : { start }),
    ...(partitionType === undefined ? {} : { partitionType }),
    ...(content === undefined ? {} : { fileSystem: content }),
    ...(problem === undefined ? {} : { problem }),
  };
}

const Folder = Type.Object({
  entries: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.Enum(["file", "folder", "link", "other"]),
      size: Type.Number({ description: "Bytes." }),
      modified: Type.Number({ description: "Milliseconds since the epoch." }),
      target: Type.Optional(
        Type.String({ description: "Path that a symbolic link names." }),
      ),
      problem: Type.Optional(
        Type.String({ description: "Why it cannot be read." }),
      ),
    }),
  ),
  next: Type.Optional(
    Type.String({
      description: "`after` of the next page. Absent: there is none.",
    }),
  ),
  total: Type.Number({ description: "Number of entries of the folder." }),
  skipped: Type.Number({
    description:
      "Number of further entries whose names no path can have, as those of a damaged folder.",
  }),
  wasInUse: Type.Optional(
    Type.Boolean({
      description:
        "The file system was in use when the backup was made: changes of the last seconds before may be missing. Absent: not known.",
    }),
  ),
});

const backupListFiles = defineOperation({
  name: "backup.listFiles",
  summary:
    "List a folder of a file system in a backup, ordered by name. Symbolic links are not followed.",
  params: Type.Object(
    {
      id: archiveId,
      disk,
      partition,
      path: Type.Optional(path),
      after: Type.Optional(
        Type.String({
          maxLength: 4096,
          description: "Returns the entries after this name.",
        }),
      ),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MAX_ENTRIES,
          description: `Maximum number of entries. Default: ${DEFAULT_ENTRIES}.`,
        }),
      ),
    },
    closed,
  ),
  result: Folder,
  permission: "user",
  changes: true,
  rest: {
    method: "get",
    path: "/backup-archives/{id}/disks/{disk}/files",
    operationId: "GetBackupArchiveFiles",
    exposure: "allow",
    example: {
      entries: [
        { name: "hosts", kind: "file", size: 220, modified: 1_700_000_000_000 },
      ],
      total: 1,
      skipped: 0,
    },
  },
  handler: async (
    { id, disk: name, path: folder = "/", limit = DEFAULT_ENTRIES, ...rest },
    context,
  ) => {
    const { partition: volume, after } = rest;
    const files = await findDisk(context, { id, disk: name });
    return toPage(
      await listFiles(
        { ...files, ...(volume === undefined ? {} : { volume }) },
        { path: folder, limit, ...(after === undefined ? {} : { after }) },
        context,
      ),
    );
  },
});

function toPage(result: ListFilesResult) {
  const { wasInUse, entries, next, total, skipped } = result;
  return {
    entries: [...entries],
    total,
    skipped,
    ...(next === undefined ? {} : { next }),
    ...(wasInUse === undefined ? {} : { wasInUse }),
  };
}

const backupFetchFiles = defineOperation({
  name: "backup.fetchFiles",
  summary:
    "Download files and folders from a file system in a backup. Returns the path of the download.",
  params: Type.Object(
    {
      id: archiveId,
      disk,
      partition,
      paths,
      format: Type.Optional(
        Type.Enum(["file", "zip", "tgz"], {
          description:
            "`file`: one regular file as it is. `tgz`: a compressed tar archive. Default: zip.",
        }),
      ),
    },
    closed,
  ),
  result: getFrom,
  permission: "user",
  resume: failInterrupted,
  rest: {
    method: "get",
    path: "/backup-archives/{id}/disks/{disk}/files.{format}",
    operationId: "DownloadBackupArchiveFiles",
    isTransfer: true,
  },
  handler: async (
    { id, disk: name, partition: volume, paths: wanted, format = "zip" },
    context,
  ) => {
    const files = await findDisk(context, { id, disk: name });
    return downloadFiles(
      { ...files, ...(volume === undefined ? {} : { volume }) },
      { operation: "backup.fetchFiles", paths: wanted, format },
      context,
    );
  },
});

/**
 * A disk of a backup whose files the caller may restore.
 * @throws XoError NO_SUCH_OBJECT, FORBIDDEN
 */
export async function findDisk(
  context: OperationContext,
  { id, disk: name }: { readonly id: string; readonly disk: string },
): Promise<FilesOfBackup> {
  await findVmBackup(context, "administrate:restore", id);
  return { ...parseArchiveId(id)!, disk: name };
}

/** Files out of backups of VMs. */
export const backupFilesOperations = [
  backupListPartitions,
  backupListFiles,
  backupFetchFiles,
];
