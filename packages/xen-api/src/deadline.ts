import { XoError } from "@xo-server/model";
import type { Clock } from "./clock.js";

/** One signal for all that may end a call early: its time limit and its caller. */
export interface Deadline {
  /** Aborted with XoError CALL_TIMEOUT or ABORTED. */
  readonly signal: AbortSignal;
  /** The call has ended: nothing is watched any more. */
  release(): void;
}

export function createDeadline(
  clock: Clock,
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
