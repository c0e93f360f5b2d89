import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Fence } from "@xo-server/store";

/**
 * A lease that this server took.
 *
 *     valid ⇄ expired (not renewed in time: nothing may be sent)
 *       └───────┴──► lost (taken by another process, released or transferred)
 */
export class HeldLease {
  /** For writes to the database: refused if another process has taken the lease since. */
  readonly fence: Fence;
  readonly #lost = new AbortController();
  readonly #clock: Pick<MonotonicClock, "now">;
  readonly #waiting = new Set<() => void>();
  readonly #listeners = new Set<() => void>();
  /** Commands that were sent and not answered. */
  #unanswered = 0;
  readonly #untilAnswered = new Set<() => void>();
  #validUntil: number;
  #isLost = false;

  /** @param validUntil by the monotonic clock */
  constructor(
    fence: Fence,
    clock: Pick<MonotonicClock, "now">,
    validUntil: number,
  ) {
    this.fence = fence;
    this.#clock = clock;
    this.#validUntil = validUntil;
  }

  /** Stays true: a lost lease does not become valid again. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Aborted when the lease is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Whether a command on behalf of the subject may be sent now. */
  get isValid(): boolean {
    return !this.#isLost && this.#clock.now() < this.#validUntil;
  }

  /** Time since a command could last be sent, in ms; negative: while it is valid. */
  get expiredForMs(): number {
    return this.#clock.now() - this.#validUntil;
  }

  /** @throws XoError LEASE_LOST unless `isValid` */
  check(): void {
    if (!this.isValid) throw this.#error;
  }

  /**
   * Counts a command on behalf of the subject that is sent now: the lease is released
   * only after its answer.
   * @returns to be called when the command was answered or has failed
   * @throws XoError LEASE_LOST unless `isValid`
   */
  beginCommand(): () => void {
    this.check();
    this.#unanswered++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--this.#unanswered > 0) return;
      for (const resolve of this.#untilAnswered) resolve();
      this.#untilAnswered.clear();
    };
  }

  /** Resolves when all commands have been answered. */
  async answered(): Promise<void> {
    if (this.#unanswered > 0)
      await new Promise<void>((resolve) => this.#untilAnswered.add(resolve));
  }

  /** Resolves when `isValid`: an expired lease is usually renewed. @throws XoError LEASE_LOST */
  async untilValid(): Promise<void> {
    while (!this.isValid) {
      if (this.#isLost) throw this.#error;
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  /** Calls the listener when the lease is lost, at once if it is. */
  onLost(listener: () => void): void {
    if (this.#isLost) listener();
    else this.#listeners.add(listener);
  }

  /** Settles as the promise does, but rejects with LEASE_LOST as soon as the lease is lost. */
  whileHeld<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const onLost = () => {
        reject(this.#error);
      };
      this.onLost(onLost);
      promise
        .finally(() => this.#listeners.delete(onLost))
        .then(resolve, reject);
    });
  }

  /** To be called by `Leases` only. */
  renew(validUntil: number): void {
    this.#validUntil = validUntil;
    this.#wake();
  }

  /** To be called by `Leases` only. */
  lose(): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#lost.abort(this.#error);
    this.#wake();
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  get #error(): XoError {
    return new XoError("LEASE_LOST", { subject: this.fence.subject });
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
