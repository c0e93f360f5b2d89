import { XoError } from "@xo-server/model";
import type { WallClock } from "@xo-server/kit";
import type { ClassIndex } from "./class-index.js";
import type { ColumnBudget } from "./column-budget.js";
import type { CompiledQuery } from "./request.js";
import { Result } from "./result.js";
import { SharedResult } from "./shared-result.js";

export interface ResultCacheOptions {
  readonly clock: WallClock;
  readonly budget: ColumnBudget;
  /** Results that are kept up to date, at most. */
  readonly maxResults: number;
  /** How long a result stays when nobody uses it. */
  readonly lingerMs: number;
}

interface IdleResult {
  readonly timer: unknown;
  readonly drop: () => void;
}

/** The use of a result. Given back before the result is ready, the work for it ends, unless others wait for it as well. */
export interface Lease {
  readonly shared: SharedResult;
  readonly index: ClassIndex;
  release(): void;
}

/** Results by their questions: the same question is answered once, and the answer kept up to date. */
export class ResultCache {
  readonly #options: ResultCacheOptions;
  /** Nobody uses them; the one that was left first goes first. */
  readonly #idle = new Map<SharedResult, IdleResult>();
  #size = 0;

  constructor(options: ResultCacheOptions) {
    this.#options = options;
  }

  /** Number of results that are kept. */
  get count(): number {
    return this.#size;
  }

  /**
   * To be given back. Where there is no room, a result is made for this use alone;
   * `kept`: it has to stay up to date, so that room is needed.
   * @throws XoError TOO_MANY_REQUESTS when `kept` and there is none
   */
  acquire(
    index: ClassIndex,
    query: CompiledQuery,
    use: "kept" | "once",
  ): Lease {
    const cached = index.results.get(query.key);
    const shared = cached ?? this.#create(index, query, use);
    shared.users++;
    this.#stopIdleTimer(shared);
    let isReleased = false;
    const release = () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(index, shared);
    };
    return { shared, index, release };
  }

  stop(): void {
    for (const shared of [...this.#idle.keys()]) this.#stopIdleTimer(shared);
  }

  #create(
    index: ClassIndex,
    query: CompiledQuery,
    use: "kept" | "once",
  ): SharedResult {
    const hasRoom = this.#reserve();
    if (!hasRoom && use === "kept")
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: `${this.#options.maxResults} different live queries are kept already`,
      });
    const shared = new SharedResult(new Result(index.columns, query), (steps) =>
      index.table.run(steps),
    );
    // Who waits for it hears of a failure; nobody may be waiting any more.
    shared.ready.catch(() => {
      this.#drop(index, shared);
    });
    if (hasRoom) {
      index.results.set(query.key, shared);
      this.#size++;
    }
    return shared;
  }

  #reserve(): boolean {
    if (this.#size < this.#options.maxResults) return true;
    const [oldest] = this.#idle.values();
    oldest?.drop();
    return oldest !== undefined;
  }

  #release(index: ClassIndex, shared: SharedResult): void {
    if (--shared.users > 0) return;
    const isCached = this.#isCached(index, shared);
    if (!shared.isReady || !isCached || this.#options.lingerMs === 0) {
      this.#drop(index, shared);
      return;
    }
    const drop = () => {
      this.#drop(index, shared);
    };
    const timer = this.#options.clock.setTimeout(drop, this.#options.lingerMs);
    this.#idle.set(shared, { timer, drop });
  }

  #drop(index: ClassIndex, shared: SharedResult): void {
    this.#stopIdleTimer(shared);
    if (this.#isCached(index, shared)) {
      index.results.delete(shared.result.query.key);
      this.#size--;
    }
    shared.close();
    this.#options.budget.enforce();
  }

  #isCached(index: ClassIndex, { result }: SharedResult): boolean {
    return index.results.get(result.query.key)?.result === result;
  }

  #stopIdleTimer(shared: SharedResult): void {
    const idle = this.#idle.get(shared);
    if (idle === undefined) return;
    this.#options.clock.clearTimeout(idle.timer);
    this.#idle.delete(shared);
  }
}
