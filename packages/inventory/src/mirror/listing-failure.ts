import { XapiError, XoError } from "@xo-server/model";

/**
 * The pool does not have the class or does not permit us to read it: retrying
 * does not help.
 */
const refusalCodes = new Set([
  "MESSAGE_METHOD_UNKNOWN",
  "MESSAGE_REMOVED",
  "MESSAGE_DEPRECATED",
  "RBAC_PERMISSION_DENIED",
]);

/** The response for this class could not be parsed. */
const unreadableCodes = new Set([
  "BAD_ANSWER",
  "ANSWER_TOO_LARGE",
  "ANSWER_TOO_DEEP",
]);

/**
 * Consequence of a failed listing of a class.
 * - `refused`: the class does not exist for us; it is not mirrored.
 * - `class`: only this class failed, perhaps temporarily; its mirrored objects
 *   stay.
 * - `pool`: connection or session failed; the whole listing is aborted.
 */
type ListingFailure = "refused" | "class" | "pool";

/** Classifies an error of `get_all_records`. */
export function listingFailure(error: unknown): ListingFailure {
  if (error instanceof XapiError) {
    if (refusalCodes.has(error.code)) return "refused";
    return /^(SESSION|HOST)_/.test(error.code) ? "pool" : "class";
  }
  if (error instanceof XoError && unreadableCodes.has(error.code))
    return "class";
  return "pool";
}
