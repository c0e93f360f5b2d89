import { type MonotonicClock, pause } from "@xo-server/kit";
import { isOlderToken } from "./event-token.js";

/**
 * Time between two polls while a caller waits for its own change, in ms; XAPI
 * itself collects changes for 50 ms.
 */
const SHORT_PAUSE_MS = 20;
/** A requested token that is not reached within this time does not shorten pauses any more, in ms: the pool database may have been restored. */
const REQUEST_LIFETIME_MS = 5_000;
/** Time after the start of a watched task during which its end is expected soon, in ms. For longer tasks the usual pause does not matter. */
const TASK_LIFETIME_MS = 10_000;

/** A finished poll, after which a pause is due. */
interface FinishedPoll {
  readonly token: string;
  /** Monotonic ms at which the answer began. */
  readonly startedAt: number;
  /** Usual time until the next poll, in ms. */
  readonly throttleMs: number;
}

/**
 * The pause between two polls of event.from. It is short while a caller of this
 * client waits for its own change or for the end of a task that it has just started.
 */
export class EventPacing {
  readonly #clock: MonotonicClock;
  #requested: { readonly token: string; readonly until: number } | undefined;
  #tasks = 0;
  #tasksUntil = -Infinity;
  #wake = new AbortController();

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  /** A caller waits until the changes up to this token have been received. */
  requestToken(token: string): void {
    const now = this.#clock.now();
    const isNewer =
      this.#requested === undefined ||
      this.#requested.until <= now ||
      isOlderToken(this.#requested.token, token);
    if (isNewer) this.#requested = { token, until: now + REQUEST_LIFETIME_MS };
    this.#endPauses();
  }

  /** A caller waits for the end of a task that it has started. @returns a function to call when the task has ended */
  expectTask(): () => void {
    this.#tasks++;
    this.#tasksUntil = this.#clock.now() + TASK_LIFETIME_MS;
    this.#endPauses();
    return () => {
      this.#tasks--;
    };
  }

  /** Does a caller wait for changes that are newer than this token, or for the end of a task? */
  isUrgent(token: string): boolean {
    return this.#maxPauseMs(token) < Infinity;
  }

  /** Aborted when a caller begins to wait. */
  get onUrgent(): AbortSignal {
    return this.#wake.signal;
  }

  /** Resolves when the next poll is due, or when `signal` is aborted. */
  async untilNextPoll(
    poll: FinishedPoll,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for (;;) {
      const wake = this.#wake.signal;
      const pauseMs = Math.min(poll.throttleMs, this.#maxPauseMs(poll.token));
      const remainingMs = poll.startedAt + pauseMs - this.#clock.now();
      await pause(this.#clock, remainingMs, wake, signal);
      if (!wake.aborted || remainingMs <= 0 || signal?.aborted === true) return;
    }
  }

  #maxPauseMs(token: string): number {
    const now = this.#clock.now();
    const isRequested =
      this.#requested !== undefined &&
      this.#requested.until > now &&
      isOlderToken(token, this.#requested.token);
    const isTaskExpected = this.#tasks > 0 && this.#tasksUntil > now;
    return isRequested || isTaskExpected ? SHORT_PAUSE_MS : Infinity;
  }

  #endPauses(): void {
    this.#wake.abort("woken");
    this.#wake = new AbortController();
  }
}
