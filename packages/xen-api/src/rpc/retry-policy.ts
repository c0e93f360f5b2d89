import { XapiError, XoError, type ErrorCode } from "@xo-server/model";

/** What to do after a failed call. `retry`: run the call again once there is a session. */
export type CallDecision =
  | { readonly action: "give-up" }
  /** The session is invalid: log in again. */
  | { readonly action: "renew"; readonly retry: boolean }
  /** Another host is the coordinator now. */
  | {
      readonly action: "follow";
      readonly address: string;
      readonly retry: boolean;
    }
  /** Check whether the session is still valid. */
  | { readonly action: "probe"; readonly retry: boolean }
  /** The host is still booting. */
  | { readonly action: "back-off"; readonly retry: boolean };

/** Coordinators rarely change: more redirects in a row are a loop. */
const MAX_FOLLOWS = 3;

/**
 * @param attempt 0 for the first
 * @param isIdempotent the call may run twice
 */
export function afterFailedCall(
  error: unknown,
  attempt: number,
  isIdempotent: boolean,
): CallDecision {
  if (error instanceof XapiError) {
    if (error.code === "SESSION_INVALID")
      return { action: "renew", retry: isIdempotent && attempt === 0 };
    // XAPI returns these two errors before it executes the call, so any call may be retried.
    if (error.code === "HOST_IS_SLAVE")
      return {
        action: "follow",
        address: error.params[0] ?? "",
        retry: attempt < MAX_FOLLOWS,
      };
    if (isBooting(error)) return { action: "back-off", retry: true };
    return { action: "give-up" };
  }
  if (isNetworkError(error))
    return { action: "probe", retry: isIdempotent && attempt === 0 };
  // A host that no longer answers must be detected; only the answer may be lost as well.
  if (error instanceof XoError && error.code === "CALL_TIMEOUT")
    return { action: "probe", retry: isIdempotent && attempt === 0 };
  return { action: "give-up" };
}

/** Whether the toolstack of the host does not accept calls yet. */
function isBooting(error: unknown): boolean {
  return error instanceof XapiError && error.code === "HOST_STILL_BOOTING";
}

const NETWORK_ERRORS = new Set<ErrorCode>([
  "CONNECTION_REFUSED",
  "CONNECTION_LOST",
  "CONNECTION_TIMEOUT",
  "UNREACHABLE",
  "PROXY_FAILED",
]);

/** Did the connection fail, rather than the call? */
export function isNetworkError(error: unknown): boolean {
  return error instanceof XoError && NETWORK_ERRORS.has(error.code);
}

/** Does the answer prove that the pool does not support this transport? */
export function isTransportUnsupported(error: unknown): boolean {
  if (!(error instanceof XoError)) return false;
  const status = Number(error.data["status"]);
  return (
    error.code === "UNSUPPORTED" ||
    (error.code === "HTTP_STATUS" && (status < 500 || status === 501))
  );
}

/**
 * Does the pool possibly not support this transport? Old hosts answer JSON with
 * HTTP 500; but a host that is booting, or a proxy, answers 5xx and incomplete
 * bodies on every transport.
 */
export function isTransportDoubtful(error: unknown): boolean {
  return (
    error instanceof XoError &&
    (error.code === "HTTP_STATUS" || error.code === "BAD_ANSWER")
  );
}

/** Will the same error return until an administrator changes something? */
export function isPermanent(error: unknown): boolean {
  if (error instanceof XapiError)
    return (
      error.code === "SESSION_AUTHENTICATION_FAILED" ||
      error.code === "RBAC_PERMISSION_DENIED" ||
      error.code === "USER_IS_NOT_LOCAL_SUPERUSER"
    );
  return (
    error instanceof XoError &&
    (error.code === "TLS_UNTRUSTED" ||
      error.code === "TLS_FINGERPRINT_MISMATCH" ||
      error.code === "CONFIG_INVALID")
  );
}

export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly authMs: number;
}

/**
 * Pause before the next round of attempts, in ms: exponential with full jitter,
 * so that many clients do not reconnect to a restarted coordinator at once.
 * @param round 0 after the first failed round
 * @param random 0 to 1
 */
export function backoffMs(
  error: unknown,
  round: number,
  limits: BackoffLimits,
  random: number,
): number {
  if (isPermanent(error)) return limits.authMs * (0.9 + 0.2 * random);
  const ceiling = Math.min(
    limits.maxMs,
    limits.firstMs * 2 ** Math.min(round, 20),
  );
  return Math.max(ceiling * random, Math.min(50, limits.firstMs));
}

/** Pauses after the first rejections of a password that was accepted before, in ms: PAM of a busy host fails now and then. */
const PASSING_REJECTION_MS = [5_000, 15_000, 45_000];

/**
 * Pause after a login was rejected that had succeeded before, in ms.
 * @param rejections number of consecutive rejections before this one
 * @returns undefined: the rejection is not a temporary failure
 */
export function transientRejectionMs(
  error: unknown,
  rejections: number,
): number | undefined {
  const isRejected =
    error instanceof XapiError &&
    error.code === "SESSION_AUTHENTICATION_FAILED";
  return isRejected ? PASSING_REJECTION_MS[rejections] : undefined;
}
