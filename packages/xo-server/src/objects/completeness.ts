import type { Catalog, Inventory } from "@xo-server/inventory";

type Pools = Pick<Inventory, "pools" | "mirrorStatus" | "onMirrorStatus">;

/**
 * Whether the mirror has the objects of all pools: false while the pools are
 * being created, and while one is listed for the first time or restored from
 * its snapshot.
 */
export class Completeness {
  readonly #inventory: Pools;
  readonly #catalog: Pick<Catalog, "settled">;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  readonly #loading: Set<string>;
  #isComplete: boolean;
  /** Number of calls of `hold` that have not been released. */
  #holds = 0;

  constructor(inventory: Pools, catalog: Pick<Catalog, "settled">) {
    this.#inventory = inventory;
    this.#catalog = catalog;
    this.#loading = new Set(inventory.pools.filter((id) => this.#loads(id)));
    this.#isComplete = this.#loading.size === 0;
    this.#unsubscribe = inventory.onMirrorStatus((id) => {
      this.#update(id);
    });
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Called when `isComplete` has changed. @returns a function that unsubscribes */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Counts as incomplete until the returned function is called. Used while pools
   * are being created, which the inventory does not know yet.
   */
  hold(): () => void {
    this.#holds++;
    this.#set(false);
    return () => {
      this.#holds--;
      void this.#completeWhenPublished();
    };
  }

  stop(): void {
    this.#unsubscribe();
    this.#listeners.clear();
  }

  #loads(pool: string): boolean {
    return this.#inventory.mirrorStatus(pool)?.isLoading === true;
  }

  #update(pool: string): void {
    if (this.#loads(pool)) {
      this.#loading.add(pool);
      this.#set(false);
    } else if (this.#loading.delete(pool) && this.#loading.size === 0)
      void this.#completeWhenPublished();
  }

  /** Objects that have just been loaded are not in the views yet. */
  async #completeWhenPublished(): Promise<void> {
    await this.#catalog.settled();
    if (this.#loading.size === 0 && this.#holds === 0) this.#set(true);
  }

  #set(isComplete: boolean): void {
    if (isComplete === this.#isComplete) return;
    this.#isComplete = isComplete;
    for (const listener of this.#listeners) listener();
  }
}
