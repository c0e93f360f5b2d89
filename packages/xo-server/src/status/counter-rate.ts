/** Rate of a monotonic counter over the last seconds. */
export class CounterRate {
  readonly #read: () => number;
  readonly #seconds: number;
  readonly #past: number[];

  constructor(read: () => number, seconds = 5) {
    this.#read = read;
    this.#seconds = seconds;
    this.#past = [read()];
  }

  /** Must be called once per second. */
  tick(): void {
    this.#past.push(this.#read());
    if (this.#past.length > this.#seconds + 1) this.#past.shift();
  }

  /** Up to the last tick, rounded to 0.1. */
  perSecond(): number {
    const seconds = this.#past.length - 1;
    if (seconds === 0) return 0;
    const grown = this.#past[seconds]! - this.#past[0]!;
    return Math.round((grown / seconds) * 10) / 10;
  }
}
