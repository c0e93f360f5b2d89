import type { Logger } from "@xo-server/kit";
import { XoError } from "@xo-server/model";

/** The database is not reached: it reports that itself, and once. What is tried again later need not log it. */
export function isStoreUnavailable(error: unknown): boolean {
  return error instanceof XoError && error.code === "STORE_UNAVAILABLE";
}

/** Logs the failure of something that is tried again, unless the database is not reached. */
export function warnUnlessUnavailable(
  logger: Pick<Logger, "warn">,
  message: string,
  error: unknown,
): void {
  if (!isStoreUnavailable(error)) logger.warn(message, { error });
}
