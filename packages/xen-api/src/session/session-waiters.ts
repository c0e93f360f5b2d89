import { XoError } from "@xo-server/model";

interface Waiter<Session> {
  readonly resolve: (session: Session) => void;
  readonly reject: (error: Error) => void;
  /** True: waits until there is a session. False: rejects on a permanent error. */
  readonly waitsThroughFailures: boolean;
}

/** Callers that wait for a session. */
export class SessionWaiters<Session> {
  readonly #waiting = new Set<Waiter<Session>>();

  /**
   * @param waitsThroughFailures false: `rejectImpatient` rejects it
   * @throws XoError ABORTED, or the error that the signal was aborted with
   */
  wait(
    signal: AbortSignal | undefined,
    waitsThroughFailures: boolean,
  ): Promise<Session> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        waiter.reject(
          signal?.reason instanceof Error
            ? signal.reason
            : new XoError("ABORTED", { what: "connecting" }),
        );
      };
      const leave = () => {
        this.#waiting.delete(waiter);
        signal?.removeEventListener("abort", onAbort);
      };
      const waiter: Waiter<Session> = {
        waitsThroughFailures,
        resolve: (session) => {
          leave();
          resolve(session);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", onAbort, { once: true });
      if (signal?.aborted === true) onAbort();
    });
  }

  resolveAll(session: Session): void {
    for (const waiter of this.#waiting) waiter.resolve(session);
  }

  rejectAll(error: Error): void {
    for (const waiter of this.#waiting) waiter.reject(error);
  }

  /** Rejects those that do not wait through failures. */
  rejectImpatient(error: Error): void {
    for (const waiter of this.#waiting)
      if (!waiter.waitsThroughFailures) waiter.reject(error);
  }
}
