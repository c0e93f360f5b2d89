export interface TurnLimiterOptions {
  /** Items that may start in one turn of the event loop. Default: 16. */
  readonly perTurn?: number;
  /** Calls back in a later turn of the event loop, after pending I/O. Default: setImmediate. */
  readonly nextTurn?: (callback: () => void) => void;
}

/** An item that XAPI receives takes about 1 ms, one that is refused 0.1 ms. */
const PER_TURN = 16;

/**
 * Limits how many items of all bulk tasks together start in one turn of the
 * event loop: items that end immediately would otherwise never leave the queue
 * of microtasks, and nothing else would run until the last of them has ended.
 */
export class TurnLimiter {
  readonly #perTurn: number;
  readonly #nextTurn: (callback: () => void) => void;
  readonly #waiting: (() => void)[] = [];
  #started = 0;
  #isScheduled = false;

  constructor({ perTurn, nextTurn }: TurnLimiterOptions = {}) {
    this.#perTurn = perTurn ?? PER_TURN;
    this.#nextTurn = nextTurn ?? ((callback) => setImmediate(callback));
  }

  /** Resolves when one more item may start; first come, first served. */
  next(): Promise<void> {
    const started = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#start();
    return started;
  }

  #start(): void {
    const count = this.#perTurn - this.#started;
    const starting = this.#waiting.splice(0, count);
    this.#started += starting.length;
    if (this.#started > 0) this.#schedule();
    for (const start of starting) start();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(() => {
      this.#isScheduled = false;
      this.#started = 0;
      this.#start();
    });
  }
}
