import type { BulkFailure } from "./bulk-result.js";

/** Failures that a message names. */
const MAX_NAMED = 5;

/**
 * Failures for the message of an error: which object, and why.
 * @param total number of failures, of which `failures` may be the first only
 */
export function listFailures(
  failures: readonly BulkFailure[],
  total: number,
): string {
  const named = failures
    .slice(0, MAX_NAMED)
    .map(({ id, name = id, error }) => `${name}: ${error.message}`);
  const left = total - named.length;
  return [...named, ...(left > 0 ? [`and ${left} more`] : [])].join("; ");
}
