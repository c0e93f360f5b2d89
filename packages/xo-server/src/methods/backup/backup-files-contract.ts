import { XoError } from "@xo-server/model";
import { Type } from "typebox";
import {
  downloadFiles,
  listFiles,
  listVolumes,
  type FilesOfBackup,
} from "../../backups/restore/restore-files.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { failInterrupted, getFrom } from "../storage/disk-transfer.js";
import { findDisk, partition, path, paths } from "./backup-files.js";

const closed = { additionalProperties: false } as const;
/** Entries of a folder at most: Xen Orchestra has no pages. */
const MAX_ENTRIES = 10_000;
/** Id of a file system on a disk without partitions, which Xen Orchestra does not list. */
const WHOLE_DISK = "disk";

const diskOfArchive = {
  disk: Type.String({
    minLength: 1,
    description: "Id of the disk: repository/backup/disk.",
  }),
  remote: Type.String({ description: "Id of the backup repository." }),
};

const backupNgListPartitions = defineOperation({
  name: "backupNg.listPartitions",
  summary:
    "List the partitions and LVM logical volumes of a disk of a backup. The list is empty if the disk has a file system without a partition table.",
  params: Type.Object(diskOfArchive, closed),
  result: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      size: Type.Number(),
      start: Type.Optional(Type.Number()),
      type: Type.Optional(Type.Union([Type.String(), Type.Number()])),
    }),
  ),
  permission: "user",
  changes: true,
  handler: async (params, context) => {
    const files = await findDiskOf(params, context);
    const { volumes } = await listVolumes(files, context);
    return volumes
      .filter(({ id }) => id !== WHOLE_DISK)
      .map(({ id, name, label, size, start, partitionType: type }) => ({
        id,
        name: name || label,
        size,
        ...(start === undefined ? {} : { start }),
        ...(type === undefined ? {} : { type: toType(type) }),
      }));
  },
});

/** Codes of MBR are numbers in Xen Orchestra. */
function toType(type: string): string | number {
  return type.startsWith("0x") ? Number(type) : type;
}

const backupNgListFiles = defineOperation({
  name: "backupNg.listFiles",
  summary: `List a folder of a file system in a backup: an object with the names of files, and of folders with a slash. Of more than ${MAX_ENTRIES} entries use backup.listFiles.`,
  params: Type.Object({ ...diskOfArchive, partition, path }, closed),
  result: Type.Record(Type.String(), Type.Object({})),
  permission: "user",
  changes: true,
  handler: async ({ partition: volume, path: folder, ...disk }, context) => {
    const files = await findDiskOf(disk, context);
    const { entries, next, total } = await listFiles(
      { ...files, ...(volume === undefined ? {} : { volume }) },
      { path: folder, limit: MAX_ENTRIES },
      context,
    );
    if (next !== undefined)
      throw new XoError("TOO_MANY_FILES", {
        reason: `the folder has ${total} entries, and one answer at most ${MAX_ENTRIES}: use backup.listFiles`,
      });
    return Object.fromEntries(
      entries
        .filter(({ kind }) => kind === "file" || kind === "folder")
        .map(({ name, kind }) => [kind === "folder" ? `${name}/` : name, {}]),
    );
  },
});

const backupNgFetchFiles = defineOperation({
  name: "backupNg.fetchFiles",
  summary:
    "Download files and folders from a file system in a backup. Returns the path of the download.",
  params: Type.Object(
    {
      ...diskOfArchive,
      partition,
      paths,
      format: Type.Optional(
        Type.Enum(["tgz", "zip"], {
          description: "Format of the archive. Default: tgz.",
        }),
      ),
    },
    closed,
  ),
  result: getFrom,
  permission: "user",
  resume: failInterrupted,
  handler: async (
    { partition: volume, paths: wanted, format = "tgz", ...disk },
    context,
  ) => {
    const files = await findDiskOf(disk, context);
    return downloadFiles(
      { ...files, ...(volume === undefined ? {} : { volume }) },
      { operation: "backupNg.fetchFiles", paths: wanted, format },
      context,
    );
  },
});

/** @throws XoError NO_SUCH_OBJECT, FORBIDDEN */
function findDiskOf(
  { disk, remote }: { readonly disk: string; readonly remote: string },
  context: OperationContext,
): Promise<FilesOfBackup> {
  const [repository = "", backup = "", ...name] = disk.split("/");
  if (repository !== remote || name.length === 0)
    throw new XoError("NO_SUCH_OBJECT", { type: "disk of a backup", id: disk });
  const id = `${repository}/${backup}`;
  return findDisk(context, { id, disk: name.join("/") });
}

/** Files out of backups of VMs, named as in Xen Orchestra. */
export const backupFilesContractOperations = [
  backupNgListPartitions,
  backupNgListFiles,
  backupNgFetchFiles,
];
