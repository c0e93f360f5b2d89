import { RepositoryError } from "../errors.js";

/** @returns an error as it is sent: the code of a RepositoryError or of the system */
export function toFailure(error: unknown): { code: string; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof RepositoryError) return { code: error.code, message };
  const { code } = error as NodeJS.ErrnoException;
  return { code: code ?? "failed", message };
}
