import { pause, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/** For so long it is waited for the tasks of a session, in ms. */
const LIMIT_MS = 30 * 60_000;
/** After a failure it is tried again after this time, in ms. */
const RETRY_MS = 1_000;

/**
 * Ends XAPI sessions of servers, or runs of this one, that have ended: a request that they have sent and that has not arrived
 * is refused by the pool from then on.
 */
export class EndedSessions {
  readonly #clock: Pick<WallClock, "now" | "setTimeout" | "clearTimeout">;
  /** Why a session could not be ended, by its reference. */
  readonly #ends = new Map<string, Promise<string | undefined>>();

  constructor(clock: Pick<WallClock, "now" | "setTimeout" | "clearTimeout">) {
    this.#clock = clock;
  }

  /**
   * Resolves when the session does not exist any more.
   * @param session its reference
   * @returns undefined, or why it was not ended
   */
  async end(
    xapi: Xapi,
    session: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    let end = this.#ends.get(session);
    if (end === undefined) {
      end = this.#end(xapi, session);
      this.#ends.set(session, end);
      // It may be possible later.
      void end.then((reason) => {
        if (reason !== undefined) this.#ends.delete(session);
      });
    }
    return unlessAborted(end, signal);
  }

  async #end(xapi: Xapi, session: string): Promise<string | undefined> {
    const limit = new AbortController();
    const timer = this.#clock.setTimeout(() => {
      limit.abort();
    }, LIMIT_MS);
    let reason = "";
    try {
      while (!limit.signal.aborted)
        try {
          await xapi.endSession(session, limit.signal);
          return undefined;
        } catch (error) {
          reason = (error as Error).message;
          if (error instanceof XoError && error.code === "CLOSED") break;
          await pause(this.#clock, RETRY_MS, limit.signal);
        }
    } finally {
      this.#clock.clearTimeout(timer);
    }
    return reason;
  }
}

function unlessAborted(
  end: Promise<string | undefined>,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const onAbort = () => {
      resolve("the task was aborted");
    };
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void end.then((reason) => {
      signal.removeEventListener("abort", onAbort);
      resolve(reason);
    });
  });
}
