/** Maximum time in which requests are begun in one turn of the event loop, in ms. */
const TURN_MS = 10;

interface RequestTurnsOptions {
  /** Monotonic clock, in ms. */
  readonly now: () => number;
  /** Calls back in the next turn of the event loop, after pending I/O. */
  readonly nextTurn: (callback: () => void) => void;
}

/**
 * Begins requests, in order, only as many in a turn of the event loop as take a few milliseconds.
 * Node.js begins all that have arrived: a thousand at once would block everything else for a second.
 */
export class RequestTurns {
  readonly #options: RequestTurnsOptions;
  readonly #waiting: (() => void)[] = [];
  /** End of the time of this turn; undefined: no request has been begun in it. */
  #deadline: number | undefined;

  constructor(options: RequestTurnsOptions) {
    this.#options = options;
  }

  /** Calls `begin` now, or in one of the next turns. */
  run(begin: () => void): void {
    if (this.#deadline === undefined) this.#startTurn();
    if (this.#waiting.length === 0 && this.#hasTime) begin();
    else this.#waiting.push(begin);
  }

  get #hasTime(): boolean {
    return this.#options.now() < this.#deadline!;
  }

  #startTurn(): void {
    const { now, nextTurn } = this.#options;
    this.#deadline = now() + TURN_MS;
    nextTurn(() => {
      this.#deadline = undefined;
      if (this.#waiting.length > 0) this.#continue();
    });
  }

  #continue(): void {
    this.#startTurn();
    let begun = 0;
    try {
      do this.#waiting[begun++]!();
      while (begun < this.#waiting.length && this.#hasTime);
    } finally {
      this.#waiting.splice(0, begun);
    }
  }
}
