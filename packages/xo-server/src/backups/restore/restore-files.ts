import type {
  FetchFilesOperation,
  FindFilesResult,
  ListFilesResult,
  ListVolumesResult,
} from "@xo-server/backup";
import { XoError } from "@xo-server/model";
import type { HandlerContext } from "../../operations/operation.js";
import type { Transfers } from "../../transfers/transfers.js";
import type { Repositories } from "../repositories/repositories.js";
import { openDownload } from "./open-download.js";

/** A disk of a backup, and the partition or logical volume of which files are read. */
export interface FilesOfBackup {
  /** Id. */
  readonly repository: string;
  readonly backup: string;
  readonly disk: string;
  /** Default: the only one. */
  readonly volume?: string;
}

type Caller = HandlerContext<{
  readonly backupRepositories: Pick<Repositories, "run">;
  readonly transfers: Pick<Transfers, "offerDownload">;
}>;

/** @throws XoError BACKUP_*, FILE_SYSTEM_* */
export function listVolumes(
  { repository, backup, disk }: FilesOfBackup,
  { services, signal }: Caller,
): Promise<ListVolumesResult> {
  return services.backupRepositories.run<ListVolumesResult>(
    repository,
    { type: "list-volumes", backup, disk },
    { signal },
  );
}

/** @throws XoError BACKUP_*, FILE_SYSTEM_*, NO_SUCH_FILE, TOO_MANY_FILES */
export function listFiles(
  { repository, ...files }: FilesOfBackup,
  page: {
    readonly path: string;
    readonly after?: string;
    readonly limit: number;
  },
  { services, signal }: Caller,
): Promise<ListFilesResult> {
  return services.backupRepositories.run<ListFilesResult>(
    repository,
    { type: "list-files", ...files, ...page },
    { signal },
  );
}

const TYPES = {
  file: "application/octet-stream",
  zip: "application/zip",
  tgz: "application/gzip",
};

/**
 * Offers the download of files, if they exist.
 * @throws XoError BACKUP_*, FILE_SYSTEM_*, NO_SUCH_FILE
 */
export async function downloadFiles(
  { repository, ...files }: FilesOfBackup,
  {
    operation,
    paths,
    format,
  }: Pick<FetchFilesOperation, "paths" | "format"> & {
    /** Its name. */
    readonly operation: string;
  },
  context: Caller,
): Promise<{ $getFrom: string }> {
  const { backupRepositories, transfers } = context.services;
  const found = await backupRepositories.run<FindFilesResult>(
    repository,
    { type: "find-files", ...files, paths },
    { signal: context.signal },
  );
  const isOneFile = found.files.length === 1 && found.files[0]!.kind === "file";
  if (format === "file" && !isOneFile)
    throw new XoError("NO_SUCH_FILE", {
      reason: "only one regular file can be downloaded without an archive",
    });
  const fileName = fileNameOf(paths, format);
  const { backup, disk, volume } = files;
  return transfers.offerDownload(
    {
      operation,
      name: `Download of ${fileName}`,
      object: { id: repository, type: "backup-repository" },
      params: {
        id: `${repository}/${backup}`,
        disk,
        partition: volume,
        paths,
        format,
      },
      context,
      fileName,
    },
    (work) =>
      openDownload(
        backupRepositories,
        {
          repository,
          operation: { type: "fetch-files", ...files, paths, format },
          type: TYPES[format],
        },
        work,
      ),
  );
}

function fileNameOf(
  paths: readonly string[],
  format: FetchFilesOperation["format"],
): string {
  const [path = ""] = paths;
  const last = path.split("/").findLast((name) => name !== "");
  const name = paths.length > 1 || last === undefined ? "files" : last;
  return format === "file" ? name : `${name}.${format}`;
}
