import { RepositoryError, WorkerError } from "@xo-server/backup";
import { XoError } from "@xo-server/model";

/**
 * Errors of an unreachable storage, or of another storage at the same place, such
 * as a missing mount.
 */
const UNREACHABLE: Readonly<Record<string, string>> = {
  absent: "",
  "storage-failed": "",
  "storage-untrusted": "",
  EACCES: "permission denied",
  EHOSTDOWN: "the file server does not respond",
  EIO: "input/output error",
  ENOENT: "the folder does not exist",
  ENOTCONN: "the mount is not connected",
  ENOTDIR: "it is not a folder",
  ENXIO: "the device does not exist",
  EPERM: "operation not permitted",
  ESTALE: "the mount is stale",
  ETIMEDOUT: "the file server does not respond",
};
const FULL = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Converts the error of a worker for clients; its cause has the code.
 * @param repository name of the repository
 */
export function toRepositoryError(error: unknown, repository: string): Error {
  if (!(error instanceof WorkerError || error instanceof RepositoryError))
    return error as Error;
  const { code, message } = error;
  const data = { repository, reason: message };
  const reason = UNREACHABLE[code];
  if (reason !== undefined)
    return new XoError(
      "BACKUP_REPOSITORY_UNREACHABLE",
      {
        repository,
        reason: reason === "" ? message : `${reason} (${message})`,
      },
      error,
    );
  if (FULL.has(code)) return new XoError("BACKUP_REPOSITORY_FULL", data, error);
  switch (code) {
    case "cancelled":
      return new XoError("ABORTED", { what: "the operation" }, error);
    case "wrong-key":
      return new XoError("BACKUP_REPOSITORY_KEY_WRONG", data, error);
    case "read-only":
      return new XoError("BACKUP_REPOSITORY_READ_ONLY", data, error);
    case "rolled-back":
      return new XoError("BACKUP_REPOSITORY_OLDER", data, error);
    case "damaged":
    case "missing":
      return new XoError("BACKUP_REPOSITORY_DAMAGED", data, error);
    case "invalid":
    case "unsupported":
    case "unknown":
      return new XoError("BACKUP_REPOSITORY_REFUSED", data, error);
    case "conflict":
      return new XoError("BACKUP_REPOSITORY_CHANGED", data, error);
    case "transfer-failed":
    case "source-invalid":
    case "untrusted":
      return new XoError("BACKUP_TRANSFER_FAILED", { reason: message }, error);
    case "file-system-unsupported":
      return new XoError("FILE_SYSTEM_UNSUPPORTED", { reason: message }, error);
    case "file-system-damaged":
      return new XoError("FILE_SYSTEM_DAMAGED", { reason: message }, error);
    case "file-missing":
      return new XoError("NO_SUCH_FILE", { reason: message }, error);
    case "file-limit":
      return new XoError("TOO_MANY_FILES", { reason: message }, error);
    default:
      return new XoError("BACKUP_WORKER_FAILED", { reason: message }, error);
  }
}

/** Whether the repository could not be used, as opposed to an error of the requested operation. */
export function isProblemOfRepository(error: unknown): error is XoError {
  return (
    error instanceof XoError &&
    [
      "BACKUP_REPOSITORY_UNREACHABLE",
      "BACKUP_REPOSITORY_READ_ONLY",
      "BACKUP_REPOSITORY_FULL",
      "BACKUP_REPOSITORY_KEY_WRONG",
      "BACKUP_REPOSITORY_OLDER",
      "BACKUP_REPOSITORY_DAMAGED",
    ].includes(error.code)
  );
}

/** @param reason from an inspection */
export function readOnlyError(
  reason: string,
  { name }: { readonly name: string },
): XoError {
  return new XoError("BACKUP_REPOSITORY_READ_ONLY", {
    repository: name,
    reason,
  });
}
