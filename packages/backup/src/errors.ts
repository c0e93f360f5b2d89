/** What went wrong, for callers that decide by it. */
export type RepositoryErrorCode =
  /** A file of the repository does not exist. */
  | "missing"
  /** The storage holds no repository, or does not exist. */
  | "absent"
  /** Bytes are not what was written, and no copy or parity could restore them. */
  | "damaged"
  /** No key slot opens with the passphrase, or the recovery key is of another repository. */
  | "wrong-key"
  /** The repository is older than the last state that the caller has seen. */
  | "rolled-back"
  /** Another process changed what this operation relies on: repeat the operation. */
  | "conflict"
  /** The folder holds no repository, or one that this version cannot read. */
  | "unsupported"
  /** There is no backup, disk or key slot of this name. */
  | "unknown"
  /** The storage can be read, but refuses to create or delete files. */
  | "read-only"
  /** A parameter is not allowed. */
  | "invalid"
  /** The base of a backup cannot be used, and the source has nothing but changes: do a full backup. */
  | "base-unusable"
  /** A source or a target does not answer, refuses, or closes the connection early. */
  | "transfer-failed"
  /** A source sends what its protocol or format does not allow, or less than announced. */
  | "source-invalid"
  /** Temporary files do not fit on the file system. */
  | "no-space"
  /** The certificate of a server is not the expected one. */
  | "untrusted"
  /** The caller cancelled the operation. */
  | "cancelled";

/** Every expected failure of this package. Callers decide by `code`; the message is for users. */
export class RepositoryError extends Error {
  override readonly name = "RepositoryError";
  readonly code: RepositoryErrorCode;

  constructor(
    code: RepositoryErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
  }
}

/** Whether a file of the repository does not exist (code `missing`). */
export function isMissing(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === "missing";
}

/** Whether a file is missing or damaged, so that other files may still be readable. */
export function isUnreadable(error: unknown): boolean {
  return (
    error instanceof RepositoryError &&
    (error.code === "missing" || error.code === "damaged")
  );
}

/**
 * Whether the operation has to be repeated, because another process changed the
 * repository (code `conflict`).
 */
export function isConflict(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === "conflict";
}
