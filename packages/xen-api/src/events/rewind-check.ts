import type { MonotonicClock } from "@xo-server/kit";
import { isRewoundInject } from "./event-token.js";

/** Interval of checks while nothing changes, in ms. Pools in use have changes more often, and are hardly checked. */
const INTERVAL_MS = 60_000;

/**
 * Finds out whether the database of the pool has become older than our token, while the session
 * and XAPI continue. XAPI then answers event.from as if nothing had changed, until its
 * generation has passed the token; event.inject returns the generation.
 */
export class RewindCheck {
  readonly #clock: Pick<MonotonicClock, "now">;
  readonly #injectToken: () => Promise<string>;
  #checkedAt: number;
  #isRewound = false;

  constructor({
    clock,
    injectToken,
  }: {
    readonly clock: Pick<MonotonicClock, "now">;
    readonly injectToken: () => Promise<string>;
  }) {
    this.#clock = clock;
    this.#injectToken = injectToken;
    this.#checkedAt = clock.now();
  }

  /** A check has shown that the database is older than our token was. */
  get isRewound(): boolean {
    return this.#isRewound;
  }

  /**
   * To be called with each answer. Starts a check if nothing has changed and the last one is long ago.
   * @param before token of the request
   */
  onAnswer(before: string, token: string): void {
    const now = this.#clock.now();
    if (token !== before || now - this.#checkedAt < INTERVAL_MS) return;
    this.#checkedAt = now;
    this.#injectToken().then(
      (injected) => {
        this.#isRewound ||= isRewoundInject(injected, token);
      },
      // Failed calls are the concern of the session; the next answer without changes starts another check.
      () => undefined,
    );
  }
}
