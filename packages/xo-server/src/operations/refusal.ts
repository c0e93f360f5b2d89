import { XoError, type ErrorCode } from "@xo-server/model";

const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "UNAUTHORIZED",
  "FORBIDDEN",
  "NO_SUCH_OBJECT",
  "OBJECTS_LOADING",
  "INVALID_PARAMETERS",
  "STORE_UNAVAILABLE",
]);

/** Whether the error rejects a call before it begins. */
export function isRefusal(error: unknown): error is XoError {
  return error instanceof XoError && REFUSALS.has(error.code);
}
