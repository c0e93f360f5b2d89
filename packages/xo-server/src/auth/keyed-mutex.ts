import { XoError } from "@xo-server/model";

/** Waiting for one name at most. */
const MAX_WAITING = 100;

/** Work that is done one after the other where it has the same name. */
export class KeyedMutex {
  readonly #queues = new Map<
    string,
    { last: Promise<unknown>; size: number }
  >();

  /** @throws XoError TOO_MANY_REQUESTS, what `work` throws */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#queues.get(name) ?? { last: Promise.resolve(), size: 0 };
    if (lane.size >= MAX_WAITING)
      throw new XoError("TOO_MANY_REQUESTS", { reason: "tries to sign in" });
    this.#queues.set(name, lane);
    lane.size++;
    const mine = lane.last.then(work);
    lane.last = mine.catch(() => undefined);
    try {
      return await mine;
    } finally {
      lane.size--;
      if (lane.size === 0) this.#queues.delete(name);
    }
  }
}
