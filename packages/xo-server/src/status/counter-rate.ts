/** How fast a counter that only grows did so in the last seconds. */
export class CounterRate {
  readonly #read: () => number;
  readonly #seconds: number;
  readonly #past: number[];

  constructor(read: () => number, seconds = 5) {
    this.#read = read;
    this.#seconds = seconds;
    this.#past = [read()];
  }

  /** Call once a second. */
  tick(): void {
    this.#past.push(this.#read());
    if (this.#past.length > this.#seconds + 1) this.#past.shift();
  }

  /** Up to the last tick, to a tenth. */
  perSecond(): number {
    const seconds = this.#past.length - 1;
    if (seconds === 0) return 0;
    const grown = this.#past[seconds]! - this.#past[0]!;
    return Math.round((grown / seconds) * 10) / 10;
  }
}
