import { RepositoryError } from "../errors.js";

export function invalid(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", `XVA: ${reason}`);
}
