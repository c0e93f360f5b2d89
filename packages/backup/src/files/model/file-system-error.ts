/** Why a file system of a disk cannot be read. */
type FileSystemErrorCode =
  /** A format or a feature that is not read; the message names it. */
  | "file-system-unsupported"
  /** What is on the disk contradicts itself, or is larger than any real file system. */
  | "file-system-damaged"
  /** There is no such partition, file or folder. */
  | "file-missing"
  /** More entries or bytes than one call may read. */
  | "file-limit";

/** Expected failures of the readers of file systems. The message is for users. */
export class FileSystemError extends Error {
  override readonly name = "FileSystemError";
  readonly code: FileSystemErrorCode;

  constructor(
    code: FileSystemErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
  }
}

export function damaged(message: string): FileSystemError {
  return new FileSystemError("file-system-damaged", message);
}

export function unsupported(message: string): FileSystemError {
  return new FileSystemError("file-system-unsupported", message);
}
