/**
 * How often something happens, as a mean over the last `windowMs`:
 * a ring of buckets, one a second.
 */
export class RateMeter {
  readonly #now: () => number;
  readonly #buckets: Float64Array;
  #second: number;
  readonly #startSecond: number;

  /** @param now milliseconds */
  constructor(now: () => number, windowSeconds = 5) {
    this.#now = now;
    // One bucket more: the running second is not over, and does not count yet.
    this.#buckets = new Float64Array(windowSeconds + 1);
    this.#second = this.#startSecond = this.#currentSecond();
  }

  add(count: number): void {
    this.#advance();
    this.#buckets[this.#second % this.#buckets.length]! += count;
  }

  /** Per second, over the whole seconds of the window that have passed. */
  perSecond(): number {
    this.#advance();
    const passed = Math.min(
      this.#second - this.#startSecond,
      this.#buckets.length - 1,
    );
    if (passed === 0) return 0;
    const running = this.#buckets[this.#second % this.#buckets.length]!;
    const all = this.#buckets.reduce((sum, count) => sum + count, 0);
    return Math.round(((all - running) / passed) * 10) / 10;
  }

  #advance(): void {
    const second = this.#currentSecond();
    const steps = Math.min(second - this.#second, this.#buckets.length);
    for (let step = 1; step <= steps; step++)
      this.#buckets[(this.#second + step) % this.#buckets.length] = 0;
    if (steps > 0) this.#second = second;
  }

  #currentSecond(): number {
    return Math.floor(this.#now() / 1000);
  }
}
