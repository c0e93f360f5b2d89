import type { MonotonicClock } from "@xo-server/kit";
import { XapiError, XoError } from "@xo-server/model";
import { isPermanent } from "../rpc/retry-policy.js";
import type { WaitOptions } from "../xapi.js";
import type { Connected, XapiSession } from "./xapi-session.js";

/** Interval of looking whether a pool still refuses logins, in ms. */
const CHECK_MS = 2_000;

export interface SessionWait {
  readonly session: Pick<XapiSession, "current" | "failure" | "ready">;
  readonly clock: MonotonicClock;
  /** Time after which a call is given up while its pool cannot be reached, in ms. */
  readonly unreachableMs: number;
  /** Of the pool, for errors. */
  readonly label: string;
}

/** What waits for a session. */
interface WaitingCall extends WaitOptions {
  /** XAPI method, or path of a handler. */
  readonly method: string;
  /** Time limit, in ms. Default: none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Resolves with the session. A pool that is reached and refuses logins for now, because it is booting, is waited for until the
 * time limit, as one by a patient call; one that cannot be reached, or refuses the password, for `unreachableMs`.
 * @throws XoError CALL_NOT_SENT, NOT_CONNECTED, CLOSED, ABORTED
 */
export async function awaitSession(
  parts: SessionWait,
  { method, timeoutMs = Infinity, isPatient, signal }: WaitingCall,
): Promise<Connected> {
  const { session, clock, unreachableMs } = parts;
  // Without timers: nearly all calls.
  if (session.current !== undefined) return session.ready(signal);
  const waiting = new AbortController();
  const begunAt = clock.now();
  const onAbort = () => {
    waiting.abort(toReason(signal?.reason, { method, ...parts }, timeoutMs));
  };
  const check = () => {
    const waitedMs = clock.now() - begunAt;
    const mayWait = isPatient === true || isBusy(session.failure);
    if (waitedMs < timeoutMs && mayWait) arm(CHECK_MS, timeoutMs - waitedMs);
    else waiting.abort(notSent({ method, ...parts }, waitedMs));
  };
  let timer: unknown;
  const arm = (...limits: readonly number[]) => {
    const ms = Math.min(...limits);
    if (ms < Infinity) timer = clock.setTimeout(check, ms);
  };
  arm(isPatient === true ? Infinity : unreachableMs, timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await session.ready(waiting.signal);
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

type Unsent = Pick<SessionWait, "session" | "label"> &
  Pick<WaitingCall, "method">;

/** @param reason of the signal of the caller, which may end by itself after the time limit */
function toReason(reason: unknown, call: Unsent, timeoutMs: number): XoError {
  if (!(reason instanceof XoError))
    return new XoError("ABORTED", { what: call.method });
  return reason.code === "CALL_TIMEOUT" ? notSent(call, timeoutMs) : reason;
}

function notSent({ session, label, method }: Unsent, ms: number): XoError {
  const { failure } = session;
  const reason = failure?.message ?? "no response to the login";
  return new XoError(
    "CALL_NOT_SENT",
    { method, pool: label, ms: Math.round(ms), reason },
    failure,
  );
}

/** Whether the pool answers, and is expected to accept a login soon. */
function isBusy(failure: Error | undefined): boolean {
  return failure instanceof XapiError && !isPermanent(failure);
}
