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

  /** True: it may pass, and has been counted. */
  take(): boolean {
    this.#fill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until the next may pass. */
  waitMs(): number {
    this.#fill();
    return Math.max(
      0,
      Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond),
    );
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
