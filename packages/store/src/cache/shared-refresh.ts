import type { WallClock } from "@xo-server/kit";

/** Pause between two refreshes, in ms: unauthenticated requests can cause them. */
const PAUSE_MS = 100;

interface SharedRefreshOptions {
  readonly refresh: () => Promise<void>;
  readonly clock: Pick<WallClock, "setTimeout">;
}

/** Refreshes on demand: concurrent requests share one refresh, which begins after each of them. */
export class SharedRefresh {
  readonly #options: SharedRefreshOptions;
  /** The refresh before, and the pause after it. */
  #previous: Promise<void> = Promise.resolve();
  /** Not begun yet. */
  #next: Promise<void> | undefined;

  constructor(options: SharedRefreshOptions) {
    this.#options = options;
  }

  /** Resolves after a refresh, also if it failed. */
  run(): Promise<void> {
    this.#next ??= this.#previous.then(() => this.#begin());
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    // An unreachable database is reported by Availability; the cache stays as it is.
    const refreshed = this.#options.refresh().catch(() => undefined);
    this.#previous = refreshed.then(() => this.#pause());
    return refreshed;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.setTimeout(resolve, PAUSE_MS);
    });
  }
}
