import type { WallClock } from "@xo-server/kit";

interface StalenessOptions {
  readonly clock: WallClock;
  readonly onChange: () => void;
}

/** Since when the store of a pool may be out of date, and the last error. */
export class Staleness {
  readonly #options: StalenessOptions;
  #since: number | undefined;
  lastError: Error | undefined;

  constructor(options: StalenessOptions) {
    this.#options = options;
  }

  /** Milliseconds since the epoch; undefined while the store is current. */
  get since(): number | undefined {
    return this.#since;
  }

  /** Does not make it younger: an earlier time stays. */
  mark(since = this.#options.clock.now()): void {
    if (this.#since !== undefined) return;
    this.#since = since;
    this.#options.onChange();
  }

  /** The store was restored from a snapshot; its owner reports the change. */
  restore(since: number): void {
    this.#since = since;
  }

  /**
   * All changes that the pool has reported are in the store.
   * @param error why it may differ nevertheless
   */
  settle(error: Error | undefined): void {
    const hasChanged = this.lastError !== error;
    this.lastError = error;
    if (error !== undefined && this.#since === undefined) this.mark();
    else if (error !== undefined) {
      if (hasChanged) this.#options.onChange();
    } else if (this.#since !== undefined) {
      this.#since = undefined;
      this.#options.onChange();
    }
  }
}
