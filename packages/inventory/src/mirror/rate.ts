/** Change counts of the last seconds, one slot each. */
const SECONDS = 10;

/** How often something happens: the mean over the last ten full seconds. */
export class Rate {
  readonly #now: () => number;
  readonly #counts = new Float64Array(SECONDS + 1);
  #second: number;

  /** @param now milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#second = Math.floor(now() / 1000);
  }

  add(count: number): void {
    this.#turn();
    this.#counts[this.#second % this.#counts.length]! += count;
  }

  get perSecond(): number {
    this.#turn();
    const running = this.#second % this.#counts.length;
    return (
      this.#counts.reduce((sum, n, i) => (i === running ? sum : sum + n), 0) /
      SECONDS
    );
  }

  #turn(): void {
    const second = Math.floor(this.#now() / 1000);
    const from = Math.max(this.#second + 1, second - SECONDS);
    for (let one = from; one <= second; one++)
      this.#counts[one % this.#counts.length] = 0;
    this.#second = Math.max(this.#second, second);
  }
}
