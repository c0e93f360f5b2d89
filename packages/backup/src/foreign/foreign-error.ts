import { RepositoryError } from "../errors.js";

export function invalidSource(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", reason);
}
