import { XapiError, XoError } from "@xo-server/model";
import type { Logger } from "../log/logger.js";

/** @returns an error that a caller may see */
export function toKnownError(
  error: unknown,
  name: string,
  logger: Pick<Logger, "error">,
): XoError | XapiError {
  if (error instanceof XoError || error instanceof XapiError) return error;
  return internalError(error, `${name} failed`, logger);
}

/**
 * Logs an unexpected error, which may contain data that a caller must not see.
 * @param message of the log
 * @returns the error for the caller
 */
export function internalError(
  error: unknown,
  message: string,
  logger: Pick<Logger, "error">,
): XoError {
  logger.error(message, { error });
  return new XoError(
    "INTERNAL",
    { reason: "see the log of the server" },
    error,
  );
}
