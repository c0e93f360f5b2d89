import { XoError } from "@xo-server/model";

/** Maximum number of waiting calls per key. */
const MAX_WAITING = 100;

/** Runs work with the same key one at a time, in the order of the calls. */
export class KeyedMutex {
  readonly #queues = new Map<
    string,
    { last: Promise<unknown>; size: number }
  >();

  /** @throws XoError TOO_MANY_REQUESTS; errors of `work` */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#queues.get(name) ?? { last: Promise.resolve(), size: 0 };
    if (lane.size >= MAX_WAITING)
      throw new XoError("TOO_MANY_REQUESTS", { reason: "sign-in attempts" });
    this.#queues.set(name, lane);
    lane.size++;
    const mine = lane.last.then(work);
    // The caller of the failed work gets its error; the next call runs anyway.
    lane.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      lane.size--;
      if (lane.size === 0) this.#queues.delete(name);
    }
  }
}
