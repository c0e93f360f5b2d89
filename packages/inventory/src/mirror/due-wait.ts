import { pause, type WallClock } from "@xo-server/kit";

/** A reason, because AbortController would create an error with a stack without one. */
const ENDED = "the wait has ended";

/** Waits for items, but not beyond the time at which something else is due. */
export class DueWait {
  readonly #clock: WallClock;
  #wake: (() => void) | undefined;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  /** Something is due now: ends the wait in progress. */
  wake(): void {
    this.#wake?.();
  }

  /**
   * @param dueAt milliseconds of the clock; undefined: only `wake` ends the wait
   * @returns the item, or "due"; then the item is to be waited for again
   */
  async for<Item>(
    item: Promise<Item>,
    dueAt: number | undefined,
  ): Promise<Item | "due"> {
    const timer = new AbortController();
    const due = new Promise<"due">((resolve) => {
      this.#wake = () => {
        resolve("due");
      };
      if (dueAt === undefined) return;
      const ms = dueAt - this.#clock.now();
      void pause(this.#clock, ms, timer.signal).then(this.#wake);
    });
    try {
      return await Promise.race([item, due]);
    } finally {
      timer.abort(ENDED);
      this.#wake = undefined;
      // The caller waits again; until then a rejection must not count as unhandled.
      item.catch(() => undefined);
    }
  }
}
