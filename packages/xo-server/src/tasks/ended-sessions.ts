import { pause, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/** Maximum time to wait for the XAPI tasks of a session, in ms. */
const LIMIT_MS = 30 * 60_000;
/** Pause before the next attempt after a failure, in ms. */
const RETRY_MS = 1_000;

/**
 * Logs out XAPI sessions of servers that have ended, or of a previous run of this one. From then
 * on the pool refuses requests that these servers sent and that have not arrived yet.
 */
export class EndedSessions {
  readonly #clock: Pick<WallClock, "now" | "setTimeout" | "clearTimeout">;
  /** Why a session could not be ended, by its reference. */
  readonly #ends = new Map<string, Promise<string | undefined>>();

  constructor(clock: Pick<WallClock, "now" | "setTimeout" | "clearTimeout">) {
    this.#clock = clock;
  }

  /**
   * Resolves when the session no longer exists.
   * @param session reference of the session
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
      // A later attempt may succeed.
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
