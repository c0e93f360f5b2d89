import { XoError, type DecodePriority } from "@xo-server/model";

interface WaitingCall {
  readonly start: () => void;
}

const PRIORITIES: readonly DecodePriority[] = ["call", "event", "bulk"];

/**
 * Limits the calls of one client that run at a time. Order: `call`, `event`,
 * `bulk`. Bulk loads never take the last slot, so that a call of a user does not
 * wait for a load to end.
 */
export class CallQueue {
  readonly #what: string;
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: Record<DecodePriority, WaitingCall[]> = {
    call: [],
    event: [],
    bulk: [],
  };
  #running = 0;

  constructor(what: string, maxRunning: number, maxWaiting: number) {
    this.#what = what;
    this.#maxRunning = Math.max(1, maxRunning);
    this.#maxWaiting = maxWaiting;
  }

  /**
   * @param task may call `leave` before it has ended, so that others run in its place
   * @throws XoError QUEUE_FULL; the signal's reason; what `task` throws
   */
  async run<T>(
    priority: DecodePriority,
    signal: AbortSignal | undefined,
    task: (leave: () => void) => Promise<T>,
  ): Promise<T> {
    await this.#waitForTurn(priority, signal);
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      this.#running--;
      this.#startNext();
    };
    try {
      return await task(leave);
    } finally {
      leave();
    }
  }

  #waitForTurn(
    priority: DecodePriority,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    signal?.throwIfAborted();
    if (this.#mayRun(priority) && this.#waiting[priority].length === 0) {
      this.#running++;
      return Promise.resolve();
    }
    const size = PRIORITIES.reduce(
      (sum, name) => sum + this.#waiting[name].length,
      0,
    );
    if (size >= this.#maxWaiting)
      return Promise.reject(
        new XoError("QUEUE_FULL", { what: this.#what, size }),
      );
    return new Promise((resolve, reject) => {
      const waiting: WaitingCall = {
        start: () => {
          signal?.removeEventListener("abort", onAbort);
          this.#running++;
          resolve();
        },
      };
      const onAbort = () => {
        const queue = this.#waiting[priority];
        queue.splice(queue.indexOf(waiting), 1);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting[priority].push(waiting);
    });
  }

  #mayRun(priority: DecodePriority): boolean {
    const reserved = priority === "bulk" && this.#maxRunning > 1 ? 1 : 0;
    return this.#running < this.#maxRunning - reserved;
  }

  #startNext(): void {
    for (const priority of PRIORITIES) {
      while (this.#waiting[priority].length > 0 && this.#mayRun(priority))
        this.#waiting[priority].shift()?.start();
    }
  }
}
