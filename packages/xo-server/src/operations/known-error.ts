import { XapiError, XoError } from "@xo-server/model";
import type { Logger } from "../log/logger.js";

/** @returns an error that a caller may see */
export function toKnownError(
  error: unknown,
  name: string,
  logger: Pick<Logger, "error">,
): XoError | XapiError {
  if (error instanceof XapiError) return refusedInput(error) ?? error;
  if (error instanceof XoError) return error;
  return internalError(error, `${name} failed`, logger);
}

/** What XAPI reports as INTERNAL_ERROR for input that its database cannot store. */
const REFUSED_INPUT: Readonly<Record<string, string>> = {
  "Db_exn.Invalid_value":
    "the pool accepts no control characters except tabs and line breaks",
  "Db_exn.Empty_key_in_map": "the pool accepts no empty keys",
};

function refusedInput(error: XapiError): XoError | undefined {
  const [exception = ""] = error.params;
  if (error.code !== "INTERNAL_ERROR") return undefined;
  if (!Object.hasOwn(REFUSED_INPUT, exception)) return undefined;
  const reason = REFUSED_INPUT[exception];
  return new XoError("INVALID_PARAMETERS", { reason, errors: [] }, error);
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
