import { pause } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { XapiComponents } from "../components.js";
import { isNetworkError } from "../rpc/retry-policy.js";
import {
  visibleResult,
  type FoundResult,
  type ResultLookup,
} from "./visible-result.js";
import type { CallOptions } from "../xapi.js";

/**
 * Maximum number of lookups that do not find the result, and of lookups that fail.
 * After that the result is unknown.
 */
const MAX_LOOKUPS = 3;
/** Pause between two lookups, in ms: the pool may still be executing the call. */
const LOOKUP_PAUSE_MS = 2_000;
/** Timeout of each call of a lookup, in ms. */
const LOOKUP_TIMEOUT_MS = 20_000;

/** A call without a task. */
interface ActingCall {
  readonly method: string;
  /** Without the session. */
  readonly params: readonly unknown[];
  readonly options: CallOptions;
}

/**
 * Calls a method that acts, once. If the answer is lost, its result is read from the state of the pool where it is visible.
 * @throws XapiError, XoError; RESULT_UNKNOWN: it was sent, and may have been executed
 */
export async function callActing(
  parts: XapiComponents,
  { method, params, options }: ActingCall,
): Promise<unknown> {
  const { executor, settings, logger, label } = parts;
  const { signal, timeoutMs, priority = "call" } = options;
  const until = settings.clock.now() + settings.unreachableMs;
  let isSent = false;
  try {
    return await executor.value({
      method,
      params,
      signal,
      priority,
      idempotent: false,
      isPatient: options.isPatient,
      timeoutMs: timeoutMs ?? settings.callTimeoutMs,
      // The caller knows how long it takes.
      startTimeoutMs: timeoutMs,
      beforeSend(session) {
        options.beforeSend?.(session);
        isSent = true;
      },
    });
  } catch (error) {
    if (!isSent || !isAnswerLost(error)) throw error;
    const lookup = visibleResult(method, params);
    const found =
      lookup === undefined
        ? undefined
        : await search(parts, lookup, { until, signal });
    if (found === undefined) {
      // The call was answered: the error is the result.
      if (!isAnswerMissing(error)) throw error;
      const reason = (error as Error).message;
      throw new XoError("RESULT_UNKNOWN", { method, reason }, error);
    }
    logger.info(
      `${label}: the response to ${method} was lost, its result was found in the pool`,
    );
    return found.value;
  }
}

/**
 * Timeout of a call that looks for a result, in ms; not positive: the pool cannot be reached, and it has been waited for
 * long enough.
 * @param limitMs while it is reached
 * @param until end of the wait for a session, in monotonic ms
 */
export function searchTimeoutMs(
  { session, settings: { clock } }: XapiComponents,
  limitMs: number,
  until: number,
): number {
  return session.current === undefined
    ? Math.min(limitMs, until - clock.now())
    : limitMs;
}

/** @returns undefined: the result is not there, or the pool cannot be read */
async function search(
  parts: XapiComponents,
  lookup: ResultLookup,
  {
    until,
    signal,
  }: { readonly until: number; readonly signal: AbortSignal | undefined },
): Promise<FoundResult | undefined> {
  const { executor, settings } = parts;
  const { clock } = settings;
  let timeoutMs = LOOKUP_TIMEOUT_MS;
  const read = (method: string, params: readonly unknown[]) =>
    executor.value({ method, params, signal, priority: "call", timeoutMs });
  let failures = 0;
  for (let misses = 0; misses < MAX_LOOKUPS && failures < MAX_LOOKUPS;) {
    if (misses + failures > 0) await pause(clock, LOOKUP_PAUSE_MS, signal);
    timeoutMs = searchTimeoutMs(parts, LOOKUP_TIMEOUT_MS, until);
    if (timeoutMs <= 0) return undefined;
    try {
      const found = await lookup(read);
      if (found !== undefined) return found;
      misses++;
    } catch {
      // The failure of the call itself is reported.
      failures++;
    }
  }
  return undefined;
}

/** The pool may have executed the call. */
export function isAnswerLost(error: unknown): boolean {
  if (isAnswerMissing(error)) return true;
  return (
    error instanceof XoError &&
    (error.code === "BAD_ANSWER" || error.code === "HTTP_STATUS")
  );
}

/** Whether nothing was received that could be an answer. */
export function isAnswerMissing(error: unknown): boolean {
  return (
    isNetworkError(error) ||
    (error instanceof XoError && error.code === "CALL_TIMEOUT")
  );
}
