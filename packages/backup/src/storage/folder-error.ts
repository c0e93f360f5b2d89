/**
 * A folder cannot be used now. No `RepositoryError`: files are neither missing nor damaged, so that
 * a verification ends instead of reporting them.
 */
export class FolderError extends Error {
  override readonly name = "FolderError";
  readonly code = "storage-failed";
}
