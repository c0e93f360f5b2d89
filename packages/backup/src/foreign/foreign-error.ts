import { RepositoryError } from "../errors.js";

/**
 * RepositoryError `source-invalid`. @param reason for users, with the format it
 * is about: `OVA: ...`
 */
export function invalidSource(reason: string): RepositoryError {
  return new RepositoryError("source-invalid", reason);
}
