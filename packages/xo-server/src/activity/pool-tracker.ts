import type { Catalog, Inventory } from "@xo-server/inventory";

interface PoolWatchOptions {
  readonly inventory: Pick<
    Inventory,
    "onMirrorStatus" | "mirrorStatus" | "pools"
  >;
  readonly catalog: Pick<Catalog, "settled">;
  /** Reads the objects of a pool whose changes will be activity. Must not reject. */
  readonly read: (pool: string) => Promise<void>;
  readonly onConnected: (pool: string) => void;
  readonly onLost: (pool: string) => void;
}

/**
 * Tracks which pools are live. During a listing the objects of a pool arrive in
 * bulk, and some reach the catalog later; such changes are not activity.
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

  /** The pools that are live. */
  get live(): ReadonlySet<string> {
    return this.#live;
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
    // A re-listing recovers lost events while the pool stays connected: it remains live.
    if (state === "listing" || state === "re-listing") return;
    if (this.#connected.delete(pool)) this.#options.onLost(pool);
  }

  async #begin(pool: string): Promise<void> {
    if (this.#live.has(pool)) return;
    // The catalog has then processed all objects of the listing.
    await this.#options.catalog.settled();
    await this.#options.read(pool);
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
