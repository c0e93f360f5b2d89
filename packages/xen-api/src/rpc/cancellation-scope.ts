import type { MonotonicClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";

/** What ends a call early. */
interface CallLimits {
  readonly method: string;
  readonly timeoutMs?: number | undefined;
  readonly startTimeoutMs?: number | undefined;
  readonly stallTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The connection that an answer arrives on. */
interface Receiver {
  /** Bytes of the current answer. */
  readonly receivedBytes: number;
  /** Reading waits for the decoder. */
  readonly isPaused: boolean;
}

/** Checks for a stalled answer per stallTimeoutMs. */
const STALL_CHECKS = 2;

/** Cancels a call at its time limits or when the signal of its caller is aborted. */
export class CancellationScope {
  readonly #controller = new AbortController();
  readonly #timer: unknown;
  readonly #limits: CallLimits;
  readonly #clock: MonotonicClock;
  #startTimer: unknown;
  #stallTimer: unknown;
  reason: Error | undefined;
  onCancel: ((reason: Error) => void) | undefined;

  constructor(limits: CallLimits, clock: MonotonicClock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#timer = this.#limit(limits.timeoutMs);
    this.#startTimer = this.#limit(limits.startTimeoutMs);
    limits.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (limits.signal?.aborted === true) this.#onAbort();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  throwIfCancelled(): void {
    if (this.reason !== undefined) throw this.reason;
  }

  /** The head of the answer has arrived. */
  onAnswerStart(receiver: Receiver): void {
    this.#clock.clearTimeout(this.#startTimer);
    const { stallTimeoutMs } = this.#limits;
    if (stallTimeoutMs !== undefined)
      this.#checkProgress(receiver, stallTimeoutMs, 0);
  }

  release(): void {
    this.#clock.clearTimeout(this.#timer);
    this.#clock.clearTimeout(this.#startTimer);
    this.#clock.clearTimeout(this.#stallTimer);
    this.#limits.signal?.removeEventListener("abort", this.#onAbort);
  }

  #limit(ms: number | undefined): unknown {
    if (ms === undefined) return undefined;
    return this.#clock.setTimeout(() => {
      this.#cancelAfter(ms);
    }, ms);
  }

  /** @param idleChecks checks in a row that found no new byte */
  #checkProgress(receiver: Receiver, ms: number, idleChecks: number): void {
    const before = receiver.receivedBytes;
    this.#stallTimer = this.#clock.setTimeout(() => {
      const isIdle = receiver.receivedBytes === before && !receiver.isPaused;
      if (isIdle && idleChecks + 1 >= STALL_CHECKS) this.#cancelAfter(ms);
      else this.#checkProgress(receiver, ms, isIdle ? idleChecks + 1 : 0);
    }, ms / STALL_CHECKS);
  }

  readonly #onAbort = () => {
    const reason: unknown = this.#limits.signal?.reason;
    this.#cancel(
      reason instanceof XoError
        ? reason
        : new XoError("ABORTED", { what: this.#limits.method }),
    );
  };

  #cancelAfter(ms: number): void {
    this.#cancel(
      new XoError("CALL_TIMEOUT", { method: this.#limits.method, ms }),
    );
  }

  #cancel(reason: Error): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.#controller.abort(reason);
    this.onCancel?.(reason);
  }
}
