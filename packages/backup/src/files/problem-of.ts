import { FileSystemError } from "./model/file-system-error.js";

/** The reason if a disk cannot be read because of what is on it; undefined for other errors. */
export function problemOf(error: unknown): string | undefined {
  if (error instanceof FileSystemError) return error.message;
  return isOutOfBounds(error) ? "it is damaged" : undefined;
}

/** Whether a field of a disk refers to bytes that a block does not have: buffers check that. */
function isOutOfBounds(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return (
    error instanceof RangeError &&
    (code === "ERR_OUT_OF_RANGE" || code === "ERR_BUFFER_OUT_OF_BOUNDS")
  );
}
