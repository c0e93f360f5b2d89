import { RepositoryError } from "../errors.js";
import { FileSystemError } from "../files/model/file-system-error.js";
import { problemOf } from "../files/problem-of.js";

/** @returns an error as it is sent: the code of a RepositoryError, of a FileSystemError or of the system */
export function toFailure(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RepositoryError || error instanceof FileSystemError)
    return { code: error.code, message };
  // Of a field that refers to bytes that a block does not have.
  const problem = problemOf(error);
  if (problem !== undefined)
    return { code: "file-system-damaged", message: problem };
  const { code } = error as NodeJS.ErrnoException;
  return { code: code ?? "failed", message };
}
