import { XapiError, XoError, type ErrorCode } from "@xo-server/model";

/** What to do about a call that failed. `repeat`: make it again when the session stands. */
export type CallDecision =
  | { readonly action: "give-up" }
  /** The session is gone: log in again. */
  | { readonly action: "renew"; readonly repeat: boolean }
  /** Another host is the coordinator now. */
  | {
      readonly action: "follow";
      readonly address: string;
      readonly repeat: boolean;
    }
  /** Is the pool still there? */
  | { readonly action: "probe"; readonly repeat: boolean }
  /** The host is there but not ready. */
  | { readonly action: "back-off"; readonly repeat: boolean };

/** Coordinators change seldom; more in a row is a circle. */
const MAX_FOLLOWS = 3;

/**
 * @param attempt 0 for the first
 * @param isIdempotent it may be made twice without harm
 */
export function afterFailedCall(
  error: unknown,
  attempt: number,
  isIdempotent: boolean,
): CallDecision {
  if (error instanceof XapiError) {
    if (error.code === "SESSION_INVALID")
      return { action: "renew", repeat: isIdempotent && attempt === 0 };
    // These two are said before anything is done, so that every call may be repeated.
    if (error.code === "HOST_IS_SLAVE")
      return {
        action: "follow",
        address: error.params[0] ?? "",
        repeat: attempt < MAX_FOLLOWS,
      };
    if (isBooting(error)) return { action: "back-off", repeat: true };
    return { action: "give-up" };
  }
  if (isNetworkError(error))
    return { action: "probe", repeat: isIdempotent && attempt === 0 };
  // Its time is up; but a host that answers nobody any more must be noticed.
  if (error instanceof XoError && error.code === "CALL_TIMEOUT")
    return { action: "probe", repeat: false };
  return { action: "give-up" };
}

export function isBooting(error: unknown): boolean {
  return error instanceof XapiError && error.code === "HOST_STILL_BOOTING";
}

const NETWORK_ERRORS = new Set<ErrorCode>([
  "CONNECTION_REFUSED",
  "CONNECTION_LOST",
  "CONNECTION_TIMEOUT",
  "UNREACHABLE",
  "PROXY_FAILED",
]);

/** Did the way to the pool fail, rather than the call? */
export function isNetworkError(error: unknown): boolean {
  return error instanceof XoError && NETWORK_ERRORS.has(error.code);
}

/** Does the pool not speak this transport, so that another is to be tried? */
export function isTransportUnsupported(error: unknown): boolean {
  return (
    error instanceof XoError &&
    (error.code === "UNSUPPORTED" ||
      error.code === "HTTP_STATUS" ||
      error.code === "BAD_ANSWER")
  );
}

/** Will it fail the same way until somebody does something about it? */
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
 * Pause before the next round of attempts, with full jitter so that forty
 * clients of a coordinator that comes back do not come back together.
 * @param round 0 after the first failed round
 * @param random from 0 to 1
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
