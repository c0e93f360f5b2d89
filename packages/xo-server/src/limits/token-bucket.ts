/** Token bucket: `perSecond` tokens per second on average, bursts of up to one second's tokens. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  /** @param now milliseconds */
  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#tokens = perSecond;
    this.#filledAt = now();
  }

  /** @returns true: allowed, the tokens are taken. A cost above `perSecond` is allowed when the bucket is full. */
  take(cost = 1): boolean {
    if (this.waitMs(cost) > 0) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Milliseconds until `take` succeeds; 0: now. */
  waitMs(cost = 1): number {
    this.#fill();
    const missing = Math.min(cost, this.#perSecond) - this.#tokens;
    return Math.max(0, Math.ceil((missing * 1000) / this.#perSecond));
  }

  #fill(): void {
    const now = this.#now();
    // Zero if the clock was set back.
    const elapsedMs = Math.max(0, now - this.#filledAt);
    this.#tokens = Math.min(
      this.#perSecond,
      this.#tokens + (elapsedMs / 1000) * this.#perSecond,
    );
    this.#filledAt = now;
  }
}
