import { XapiError, XoError } from "@xo-server/model";

/** The pool does not have the class, or does not let us see it: asking again will not help. */
const refusals = new Set([
  "MESSAGE_METHOD_UNKNOWN",
  "MESSAGE_REMOVED",
  "MESSAGE_DEPRECATED",
  "RBAC_PERMISSION_DENIED",
]);

/** The answer for this one class could not be read. */
const badAnswers = new Set([
  "BAD_ANSWER",
  "ANSWER_TOO_LARGE",
  "ANSWER_TOO_DEEP",
]);

/**
 * What a class that could not be listed means.
 * - `refused`: there is no such class for us; it is not mirrored.
 * - `class`: this class only, perhaps only now; what is held of it stays.
 * - `pool`: the connection or the session; the listing is given up.
 */
export type ListingFailure = "refused" | "class" | "pool";

export function listingFailure(error: unknown): ListingFailure {
  if (error instanceof XapiError) {
    if (refusals.has(error.code)) return "refused";
    return /^(SESSION|HOST)_/.test(error.code) ? "pool" : "class";
  }
  if (error instanceof XoError && badAnswers.has(error.code)) return "class";
  return "pool";
}
