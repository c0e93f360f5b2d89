import { XoError } from "@xo-server/model";

/**
 * Maximum number of concurrent verifications. The store limits password hashes
 * among them further.
 */
const MAX_RUNNING = 8;
/**
 * Maximum number of concurrent verifications per lane: the outcome of an attempt
 * must be known before the next attempt of the lane is admitted.
 */
const MAX_RUNNING_PER_LANE = 1;
const MAX_WAITING_PER_LANE = 100;
const MAX_WAITING = 1_000;

/** A queue of attempts that are verified one after the other. */
interface SignInLane {
  /** An address, or a name at an address. */
  readonly key: string;
  /**
   * The name has signed in from this address before: the lane has priority over all
   * unknown ones.
   */
  readonly isKnown: boolean;
}

interface Attempt {
  readonly lane: SignInLane;
  readonly begin: () => void;
}

/**
 * Password verifications cost CPU time: a few run at a time, and lanes take turns,
 * so that many attempts from one address delay those from other addresses by one
 * verification, not by all of them.
 */
export class SignInQueue {
  /** Waiting attempts by lane. The first lane is served next. */
  readonly #waiting = new Map<string, Attempt[]>();
  readonly #running = new Map<string, number>();
  readonly #maxRunning: number;
  #runningCount = 0;
  #waitingCount = 0;

  /** @param maxRunning verifications at a time */
  constructor(maxRunning = MAX_RUNNING) {
    this.#maxRunning = maxRunning;
  }

  /**
   * @param signal aborted when the client has disconnected: its attempt leaves
   *   the queue
   * @throws XoError TOO_MANY_REQUESTS, ABORTED; errors of `work`
   */
  async run<T>(
    lane: SignInLane,
    work: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (signal?.aborted === true) throw aborted();
    if (this.#isFree(lane)) this.#count(lane, 1);
    else await this.#wait(lane, signal);
    try {
      return await work();
    } finally {
      this.#count(lane, -1);
      this.#beginNext();
    }
  }

  #wait(lane: SignInLane, signal: AbortSignal | undefined): Promise<void> {
    const queue = this.#waiting.get(lane.key) ?? [];
    if (
      queue.length >= MAX_WAITING_PER_LANE ||
      (!lane.isKnown && this.#waitingCount >= MAX_WAITING)
    )
      throw new XoError("TOO_MANY_REQUESTS", { reason: "sign-in attempts" });
    return new Promise((resolve, reject) => {
      const attempt: Attempt = {
        lane,
        begin: () => {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      const leave = () => {
        this.#remove(attempt);
        reject(aborted());
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.set(lane.key, queue);
      queue.push(attempt);
      this.#waitingCount++;
    });
  }

  /** Known lanes may use one more slot, so that they never wait for unknown ones. */
  #isFree({ key, isKnown }: SignInLane): boolean {
    const hasTurn = (this.#running.get(key) ?? 0) < MAX_RUNNING_PER_LANE;
    return hasTurn && (isKnown || this.#runningCount < this.#maxRunning);
  }

  #beginNext(): void {
    for (const [key, queue] of this.#waiting) {
      const [attempt] = queue;
      if (attempt === undefined || !this.#isFree(attempt.lane)) continue;
      this.#remove(attempt);
      // Its next attempt waits until all other lanes were served.
      if (queue.length > 0) {
        this.#waiting.delete(key);
        this.#waiting.set(key, queue);
      }
      this.#count(attempt.lane, 1);
      attempt.begin();
      return;
    }
  }

  #remove(attempt: Attempt): void {
    const { key } = attempt.lane;
    const queue = this.#waiting.get(key);
    const at = queue?.indexOf(attempt) ?? -1;
    if (queue === undefined || at < 0) return;
    queue.splice(at, 1);
    this.#waitingCount--;
    if (queue.length === 0) this.#waiting.delete(key);
  }

  #count({ key, isKnown }: SignInLane, change: 1 | -1): void {
    if (!isKnown) this.#runningCount += change;
    const running = (this.#running.get(key) ?? 0) + change;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
  }
}

function aborted(): XoError {
  return new XoError("ABORTED", { what: "the sign-in" });
}
