import { XoError } from "@xo-server/model";
import type { TaskContext } from "../../tasks/task-context.js";

/** Slots that a piece of work occupies: number by the key of the resource. */
export type Demand = ReadonlyMap<string, number>;

interface Waiting {
  readonly demand: Demand;
  readonly start: () => void;
}

/**
 * Limits the concurrent work on each resource. Work that needs several resources
 * acquires all of them at once, so that none waits while it holds another. The
 * first piece of work that fits starts, in the order of arrival.
 */
export class Capacity {
  readonly #used = new Map<string, number>();
  readonly #waiting: Waiting[] = [];

  /**
   * @param task of the work. When another server adopts it, the work may never end: its slots are released then
   * @throws XoError ABORTED: the signal was aborted during the wait
   */
  async run<T>(
    demand: Demand,
    { signal, lease }: Pick<TaskContext, "signal" | "lease">,
    work: () => Promise<T>,
  ): Promise<T> {
    await this.#take(demand, signal);
    const result = work();
    const release = () => {
      for (const key of demand.keys()) this.#leave(key);
      this.#startWaiting();
    };
    void (lease?.whileHeld(result) ?? result).then(release, release);
    return result;
  }

  /** Number of pieces of work that use a resource. */
  used(key: string): number {
    return this.#used.get(key) ?? 0;
  }

  async #take(demand: Demand, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw aborted();
    if (this.#waiting.length === 0 && this.#fits(demand)) {
      this.#use(demand);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        const at = this.#waiting.indexOf(entry);
        if (at < 0) return;
        this.#waiting.splice(at, 1);
        reject(aborted());
      };
      const entry: Waiting = {
        demand,
        start: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#waiting.push(entry);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#startWaiting();
    });
  }

  #startWaiting(): void {
    for (let i = 0; i < this.#waiting.length;) {
      const entry = this.#waiting[i]!;
      if (!this.#fits(entry.demand)) {
        i++;
        continue;
      }
      this.#waiting.splice(i, 1);
      this.#use(entry.demand);
      entry.start();
    }
  }

  #fits(demand: Demand): boolean {
    for (const [key, size] of demand) if (this.used(key) >= size) return false;
    return true;
  }

  #use(demand: Demand): void {
    for (const key of demand.keys()) this.#used.set(key, this.used(key) + 1);
  }

  #leave(key: string): void {
    const left = this.used(key) - 1;
    if (left > 0) this.#used.set(key, left);
    else this.#used.delete(key);
  }
}

function aborted(): XoError {
  return new XoError("ABORTED", { what: "the backup" });
}
