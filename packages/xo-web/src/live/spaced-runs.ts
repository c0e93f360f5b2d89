import type { MonotonicClock } from "@xo-server/kit";

interface SpacedRunsOptions {
  readonly clock: MonotonicClock;
  /** Least time between two runs, in ms. */
  readonly everyMs: number;
  readonly run: () => void;
}

/** Runs at once when requested, but not more often than once per interval; the last request is never lost. */
export class SpacedRuns {
  readonly #options: SpacedRunsOptions;
  #lastAt = -Infinity;
  #timer: unknown;

  constructor(options: SpacedRunsOptions) {
    this.#options = options;
  }

  request(): void {
    if (this.#timer !== undefined) return;
    const { clock, everyMs } = this.#options;
    const wait = this.#lastAt + everyMs - clock.now();
    if (wait > 0) this.#timer = clock.setTimeout(() => this.#run(), wait);
    else this.#run();
  }

  stop(): void {
    this.#options.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #run(): void {
    this.#timer = undefined;
    this.#lastAt = this.#options.clock.now();
    this.#options.run();
  }
}
