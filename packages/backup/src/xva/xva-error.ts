import { RepositoryError } from "../errors.js";

/** RepositoryError `source-invalid` about an XVA. */
export function invalid(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", `XVA: ${reason}`);
}
