import { XapiError, XoError } from "@xo-server/model";
import type { Logger } from "../log/logger.js";

/** @returns an error that a caller may see */
export function toKnownError(
  error: unknown,
  name: string,
  logger: Logger,
): Error {
  if (error instanceof XoError || error instanceof XapiError) return error;
  // An unexpected error may contain data that a caller must not see.
  logger.error(`${name} failed`, { error });
  return new XoError(
    "INTERNAL",
    { reason: "see the log of the server" },
    error,
  );
}
