import type { Catalog, Inventory } from "@xo-server/inventory";

export interface PoolWatchOptions {
  readonly inventory: Pick<
    Inventory,
    "onMirrorStatus" | "mirrorStatus" | "pools"
  >;
  readonly catalog: Pick<Catalog, "settled">;
  readonly onConnected: (pool: string) => void;
  readonly onLost: (pool: string) => void;
}

/**
 * Tracks which pools are live. While a pool is being listed, its objects arrive
 * in bulk, some of them only when the catalog catches up; none of that is
 * activity.
 */
export class PoolTracker {
  readonly #options: PoolWatchOptions;
  readonly #live = new Set<string>();
  readonly #connected = new Set<string>();
  readonly #unsubscribe: () => void;

  constructor(options: PoolWatchOptions) {
    this.#options = options;
    const { inventory } = options;
    this.#unsubscribe = inventory.onMirrorStatus((pool) => {
      this.#track(pool);
    });
    for (const pool of inventory.pools) this.#track(pool);
  }

  isLive(pool: string): boolean {
    return this.#live.has(pool);
  }

  stop(): void {
    this.#unsubscribe();
    this.#live.clear();
  }

  #track(pool: string): void {
    const state = this.#stateOf(pool);
    if (state === "watching") {
      void this.#begin(pool);
      return;
    }
    this.#live.delete(pool);
    // Lost events are recovered by a listing: the pool itself stayed connected.
    if (state === "listing" || state === "re-listing") return;
    if (this.#connected.delete(pool)) this.#options.onLost(pool);
  }

  async #begin(pool: string): Promise<void> {
    if (this.#live.has(pool)) return;
    // The objects of the listing have been processed by then.
    await this.#options.catalog.settled();
    if (this.#stateOf(pool) !== "watching" || this.#live.has(pool)) return;
    this.#live.add(pool);
    if (this.#connected.has(pool)) return;
    this.#connected.add(pool);
    this.#options.onConnected(pool);
  }

  #stateOf(pool: string) {
    return this.#options.inventory.mirrorStatus(pool)?.state;
  }
}
