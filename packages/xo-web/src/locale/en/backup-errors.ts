/** Errors of backups by their code, with data of the error; `reason` is a text of the server, in English. */
export const backupErrors = {
  NO_VM_MATCHES: "No VM matches the selection of the job.",
  BACKUP_REPOSITORY_UNREACHABLE:
    "Repository {repository} is unreachable: {reason}",
  BACKUP_REPOSITORY_READ_ONLY: "Repository {repository} is read-only: {reason}",
  BACKUP_REPOSITORY_FULL: "Repository {repository} is full: {reason}",
  BACKUP_REPOSITORY_KEY_WRONG:
    "Repository {repository} cannot be opened: {reason}",
  BACKUP_REPOSITORY_OLDER:
    "Repository {repository} is older than it was: {reason}",
  BACKUP_REPOSITORY_DAMAGED: "Repository {repository} is damaged: {reason}",
  BACKUP_REPOSITORY_REFUSED: "Repository {repository}: {reason}",
  BACKUP_REPOSITORY_CHANGED:
    "Repository {repository} was changed in the meantime: {reason}",
  BACKUP_REPOSITORY_DISABLED: "Repository {repository} is disabled.",
  BACKUP_TRANSFER_FAILED:
    "The transfer between pool and repository failed: {reason}",
  BACKUP_REFUSED: "VM {vm} cannot be backed up: {reason}",
  FILE_SYSTEM_UNSUPPORTED: "The file system cannot be read: {reason}",
  FILE_SYSTEM_DAMAGED: "The file system is damaged: {reason}",
  NO_SUCH_FILE: "File not found: {reason}",
  TOO_MANY_FILES: "Too many files: {reason}",
  BACKUP_WORKER_FAILED: "The backup process failed: {reason}",
};
