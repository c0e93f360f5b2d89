import { pause, type WallClock } from "@xo-server/kit";

/**
 * A listing that takes longer keeps running but no longer counts: a slow or
 * hanging pool must not block the others.
 */
const SLOT_TIMEOUT_MS = 3_000;

/** Maximum time for which listings wait for work with precedence, in milliseconds. */
const MAX_DEFERRAL_MS = 10_000;

/** Connecting a pool takes 10 to 20 ms of the main thread, answers included. */
const CONNECTION_PAUSE_MS = 50;

/** Maximum time in ms in which pools are connected only when readers have been served. */
const READERS_FIRST_MS = 3_000;

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

interface ListingLimiterOptions {
  readonly maxConcurrent: number;
  readonly clock: WallClock;
  /** Time in ms in which readers are notified of restored data, and request it. */
  readonly readersWaitMs: number;
  /** Resolves when everything that readers have requested so far was computed; never rejects. */
  readonly untilServed: () => Promise<void>;
}

interface Slot {
  /** Milliseconds of the clock. */
  readonly since: number;
}

/**
 * Limits how many pools are listed at a time; the others wait in order. If a
 * hundred pools share bandwidth and CPU, all of them are complete only at the
 * end; one after the other, the first is complete early and the last no later.
 */
export class ListingLimiter {
  readonly #clock: WallClock;
  readonly #maxConcurrent: number;
  readonly #options: ListingLimiterOptions;
  /** Listings that count towards the limit, the oldest first. */
  readonly #slots = new Set<Slot>();
  readonly #waiting = new Set<(slot: Slot) => void>();
  /** Releases the oldest slot after its timeout; set while a pool waits. */
  #timer: unknown;
  /** Number of running works with precedence. */
  #first = 0;
  /** Ends the deferral after its limit; set while listings are deferred. */
  #deferral: unknown;
  /** Callers of `untilAdmitting`. */
  readonly #undeferred: (() => void)[] = [];

  constructor(options: ListingLimiterOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#maxConcurrent = Math.max(1, options.maxConcurrent);
  }

  /** Pools are being listed (those that take too long left out), or wait for it. */
  get isBusy(): boolean {
    return this.#slots.size > 0 || this.#waiting.size > 0;
  }

  /**
   * Runs `work` when a slot is free. Resolves or rejects like `work`.
   * @throws the reason of `signal` when it is aborted while waiting
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const slot = await this.#acquire(signal);
    try {
      return await work();
    } finally {
      this.#release(slot);
    }
  }

  /**
   * Runs `work` with precedence: no listing begins while it runs, nor until readers
   * have been served from its result, if it has one. For data on disk, which is
   * complete long before any listing. Resolves or rejects like `work`.
   */
  async runFirst<T>(
    work: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    if (this.#first++ === 0) this.#defer();
    let result: T | undefined;
    try {
      result = await work();
      return result;
    } finally {
      if (result === undefined) this.#endFirst();
      else void this.#serveReaders().then(() => this.#endFirst());
    }
  }

  /**
   * Resolves when listings are not deferred (any more). Callers that wait connect a pool
   * each: they continue one by one, the next one when readers have been served or
   * after CONNECTION_PAUSE_MS; for READERS_FIRST_MS only when readers have been served.
   */
  untilAdmitting(): Promise<void> {
    if (this.#deferral === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#undeferred.push(resolve));
  }

  /** Never rejects. */
  async #serveReaders(): Promise<void> {
    const { readersWaitMs, untilServed } = this.#options;
    await pause(this.#clock, readersWaitMs);
    await untilServed();
  }

  #endFirst(): void {
    if (--this.#first === 0) this.#endDeferral();
    else if (this.#deferral !== undefined) this.#defer();
  }

  #defer(): void {
    this.#clock.clearTimeout(this.#deferral);
    this.#deferral = this.#clock.setTimeout(() => {
      this.#endDeferral();
    }, MAX_DEFERRAL_MS);
  }

  #endDeferral(): void {
    this.#clock.clearTimeout(this.#deferral);
    this.#deferral = undefined;
    this.#admit();
    void this.#continueCallers();
  }

  /** Never rejects. */
  async #continueCallers(): Promise<void> {
    const { untilServed } = this.#options;
    const readersFirstUntil = this.#clock.now() + READERS_FIRST_MS;
    let next: (() => void) | undefined;
    while ((next = this.#undeferred.shift()) !== undefined) {
      next();
      await Promise.race([
        pause(
          this.#clock,
          Math.max(CONNECTION_PAUSE_MS, readersFirstUntil - this.#clock.now()),
        ),
        nextTurn().then(untilServed),
      ]);
    }
  }

  async #acquire(signal: AbortSignal): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#hasRoom) return this.#open();
    return new Promise((resolve, reject) => {
      const onSlot = (slot: Slot) => {
        signal.removeEventListener("abort", onAbort);
        resolve(slot);
      };
      const onAbort = () => {
        this.#waiting.delete(onSlot);
        this.#armTimeout();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(onSlot);
      this.#armTimeout();
    });
  }

  get #hasRoom(): boolean {
    return (
      this.#deferral === undefined && this.#slots.size < this.#maxConcurrent
    );
  }

  /** Opens slots for pools that wait. */
  #admit(): void {
    for (const onSlot of this.#waiting) {
      if (!this.#hasRoom) break;
      this.#waiting.delete(onSlot);
      onSlot(this.#open());
    }
    this.#armTimeout();
  }

  #open(): Slot {
    const slot = { since: this.#clock.now() };
    this.#slots.add(slot);
    return slot;
  }

  #release(slot: Slot): void {
    if (this.#slots.delete(slot)) this.#admit();
  }

  #armTimeout(): void {
    this.#clock.clearTimeout(this.#timer);
    const [oldest] = this.#slots;
    if (oldest === undefined || this.#waiting.size === 0) return;
    this.#timer = this.#clock.setTimeout(
      () => {
        this.#release(oldest);
      },
      Math.max(0, oldest.since + SLOT_TIMEOUT_MS - this.#clock.now()),
    );
  }
}
