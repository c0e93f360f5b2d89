/** Length of the window in seconds; one slot per second. */
const SECONDS = 10;

/** Events per second: the mean over the last ten complete seconds. */
export class Rate {
  readonly #now: () => number;
  readonly #counts = new Float64Array(SECONDS + 1);
  #second: number;

  /** @param now milliseconds; whole seconds are counted by this clock */
  constructor(now: () => number) {
    this.#now = now;
    this.#second = Math.floor(now() / 1000);
  }

  add(count: number): void {
    this.#advance();
    this.#counts[this.#second % this.#counts.length]! += count;
  }

  get perSecond(): number {
    this.#advance();
    const current = this.#second % this.#counts.length;
    return (
      this.#counts.reduce((sum, n, i) => (i === current ? sum : sum + n), 0) /
      SECONDS
    );
  }

  /** Clears the slots of the seconds that have passed since the last call. */
  #advance(): void {
    const second = Math.floor(this.#now() / 1000);
    const from = Math.max(this.#second + 1, second - SECONDS);
    for (let slot = from; slot <= second; slot++)
      this.#counts[slot % this.#counts.length] = 0;
    this.#second = Math.max(this.#second, second);
  }
}
