import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";

/** One signal for both reasons to end a call early: its time limit and the signal of its caller. */
interface Deadline {
  /** Aborted with XoError CALL_TIMEOUT or ABORTED. */
  readonly signal: AbortSignal;
  /** Call when the request has ended: clears the timer and the listener. */
  release(): void;
}

/**
 * Starts the time limit of a call.
 * @param method XAPI method, for the errors
 * @param ms milliseconds from now
 * @param signal of the caller; it may be aborted already
 */
export function createDeadline(
  clock: MonotonicClock,
  method: string,
  ms: number,
  signal: AbortSignal | undefined,
): Deadline {
  const controller = new AbortController();
  const timer = clock.setTimeout(() => {
    controller.abort(new XoError("CALL_TIMEOUT", { method, ms }));
  }, ms);
  const onAbort = () => {
    controller.abort(new XoError("ABORTED", { what: method }));
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  return {
    signal: controller.signal,
    release() {
      clock.clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
