/** Lets `perSecond` things pass in the mean, and up to a second's worth at once. */
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

  /** True: it may pass, and has been counted. What costs more than a second's worth passes when the bucket is full. */
  take(cost = 1): boolean {
    if (this.waitMs(cost) > 0) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Milliseconds until it may pass; 0: now. */
  waitMs(cost = 1): number {
    this.#fill();
    const lacking = Math.min(cost, this.#perSecond) - this.#tokens;
    return Math.max(0, Math.ceil((lacking * 1000) / this.#perSecond));
  }

  #fill(): void {
    const now = this.#now();
    this.#tokens = Math.min(
      this.#perSecond,
      this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond,
    );
    this.#filledAt = now;
  }
}
