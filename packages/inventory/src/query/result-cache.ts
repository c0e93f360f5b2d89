import { XoError } from "@xo-server/model";
import type { WallClock } from "@xo-server/kit";
import type { ClassIndex } from "./class-index.js";
import type { ColumnBudget } from "./column-budget.js";
import type { CompiledQuery } from "./request.js";
import { Result } from "./result.js";
import { SharedResult } from "./shared-result.js";

interface ResultCacheOptions {
  readonly clock: WallClock;
  readonly budget: ColumnBudget;
  /** Maximum number of cached results. */
  readonly maxResults: number;
  /** How long an unused result is kept up to date, in milliseconds. */
  readonly lingerMs: number;
}

interface IdleResult {
  readonly timer: unknown;
  readonly drop: () => void;
}

/**
 * A use of a result. Releasing it before the result is ready cancels the build,
 * unless others use it.
 */
export interface ResultHandle {
  readonly shared: SharedResult;
  readonly index: ClassIndex;
  release(): void;
}

/**
 * Caches results by query: equal queries share one result that is kept up to
 * date.
 */
export class ResultCache {
  readonly #options: ResultCacheOptions;
  /** Unused results, the longest unused first. */
  readonly #idle = new Map<SharedResult, IdleResult>();
  #size = 0;

  constructor(options: ResultCacheOptions) {
    this.#options = options;
  }

  /** Number of cached results. */
  get count(): number {
    return this.#size;
  }

  /**
   * Acquires the result of a query; the handle must be released. Without room in
   * the cache, a result is created for this use only, unless `use` is "kept":
   * live queries need a result that stays up to date.
   * @throws XoError TOO_MANY_REQUESTS for "kept" without room
   */
  acquire(
    index: ClassIndex,
    query: CompiledQuery,
    use: "kept" | "once",
  ): ResultHandle {
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
        reason: `${this.#options.maxResults} different live queries are active, which is the limit`,
      });
    const shared = new SharedResult(new Result(index.columns, query), (steps) =>
      index.table.run(steps),
    );
    // Callers that wait for it get the error.
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
