import type { Clock } from "@xo-server/xen-api";

/** Whoever takes longer goes on, but others need not wait for it: a pool may be slow, or hang. */
const PATIENCE_MS = 3_000;

interface Holder {
  readonly since: number;
}

/**
 * Lets so many pools list at a time, the others in the order they came. A
 * hundred that share everything are all there at the end; in turn, the first
 * is there at once and the last no later.
 */
export class ListingTurns {
  readonly #clock: Clock;
  readonly #atATime: number;
  /** Those that others wait for, the oldest first. */
  readonly #holders = new Set<Holder>();
  readonly #waiting = new Set<(holder: Holder) => void>();
  /** Ends the oldest turn; there while somebody waits. */
  #timer: unknown;

  constructor(atATime: number, clock: Clock) {
    this.#atATime = Math.max(1, atATime);
    this.#clock = clock;
  }

  /** @throws the signal's reason, when it is aborted while waiting */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const holder = await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#end(holder);
    }
  }

  async #turn(signal: AbortSignal): Promise<Holder> {
    signal.throwIfAborted();
    if (this.#holders.size < this.#atATime) return this.#begin();
    return new Promise((resolve, reject) => {
      const onTurn = (holder: Holder) => {
        signal.removeEventListener("abort", onAbort);
        resolve(holder);
      };
      const onAbort = () => {
        this.#waiting.delete(onTurn);
        this.#watch();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(onTurn);
      this.#watch();
    });
  }

  #begin(): Holder {
    const holder = { since: this.#clock.now() };
    this.#holders.add(holder);
    return holder;
  }

  #end(holder: Holder): void {
    if (!this.#holders.delete(holder)) return;
    const [onTurn] = this.#waiting;
    if (onTurn !== undefined) {
      this.#waiting.delete(onTurn);
      onTurn(this.#begin());
    }
    this.#watch();
  }

  #watch(): void {
    this.#clock.clearTimeout(this.#timer);
    const [oldest] = this.#holders;
    if (oldest === undefined || this.#waiting.size === 0) return;
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#end(oldest);
      },
      Math.max(0, oldest.since + PATIENCE_MS - this.#clock.now()),
    );
  }
}
