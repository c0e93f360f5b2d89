import { XoError } from "@xo-server/model";

const UNREACHABLE = new Set([
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "EHOSTDOWN",
]);

/** Converts the error of a socket to an XoError. */
export function networkError(address: string, error: unknown): XoError {
  if (error instanceof XoError) return error;
  const code = codeOf(error);
  if (code === "ECONNREFUSED")
    return new XoError("CONNECTION_REFUSED", { address }, error);
  if (UNREACHABLE.has(code))
    return new XoError("UNREACHABLE", { address, reason: code }, error);
  return new XoError("CONNECTION_LOST", { address, reason: code }, error);
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  // net.connect to a name with several addresses throws an AggregateError of their errors.
  if (error instanceof AggregateError && error.errors.length > 0)
    return codeOf(error.errors[0]);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error instanceof Error ? error.message : "unknown";
}
