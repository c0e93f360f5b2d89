import type { Catalog, Inventory } from "@xo-server/inventory";

type Pools = Pick<Inventory, "pools" | "mirrorStatus" | "onMirrorStatus">;

/** Objects whose pool is remembered. */
const MAX_KNOWN = 10_000;

/**
 * Whether an object that is not known may belong to a pool that has not been loaded
 * yet. Of the pools that are there at the start each one counts until it has been
 * loaded, also while it cannot be reached: only that its server is removed or disabled
 * ends it. A pool that is added or connected again later counts while it is loaded.
 *
 * Programs such as Terraform take "no such object" for a deletion, and create it again.
 */
export class LoadedPools {
  readonly #inventory: Pools;
  readonly #catalog: Pick<Catalog, "settled">;
  readonly #unsubscribe: () => void;
  /** Pools that may have unknown objects. */
  readonly #awaited = new Set<string>();
  /** Those of them that were there at the start. */
  readonly #first = new Set<string>();
  /** While pools are awaited: pools of objects that were found, the last one last. */
  readonly #known = new Map<string, string>();
  #hasStarted = false;
  /** Number of calls of `hold` that have not been released. */
  #holds = 0;

  constructor(inventory: Pools, catalog: Pick<Catalog, "settled">) {
    this.#inventory = inventory;
    this.#catalog = catalog;
    for (const pool of inventory.pools) this.#update(pool);
    this.#unsubscribe = inventory.onMirrorStatus((pool) => {
      this.#update(pool);
    });
  }

  /**
   * Whether an object that is not known may exist.
   * @param pool the only pool (id of the connection) that it can belong to; default: that in which it was found last, else any
   */
  mayHave(id: string, pool = this.#known.get(id)): boolean {
    if (pool !== undefined) return this.#awaited.has(pool);
    return this.isAwaiting;
  }

  /** Whether a pool may have unknown objects. */
  get isAwaiting(): boolean {
    return this.#holds > 0 || this.#awaited.size > 0;
  }

  /** @param pool id of the connection of the pool that has the object */
  noteFound(id: string, pool: string): void {
    if (this.#awaited.size === 0) return;
    this.#known.delete(id);
    this.#known.set(id, pool);
    if (this.#known.size <= MAX_KNOWN) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest!);
  }

  /**
   * Any object may exist until the returned function is called. Used while pools are
   * being created or connected again, which the inventory does not know meanwhile. The
   * start has ended with the last of the first releases.
   */
  hold(): () => void {
    this.#holds++;
    return () => {
      this.#holds--;
      if (this.#holds === 0 && !this.#hasStarted) this.#endStart();
    };
  }

  /** A pool that cannot be reached may not have reported anything yet. */
  #endStart(): void {
    for (const pool of this.#inventory.pools)
      if (!this.#inventory.mirrorStatus(pool)!.hasLoaded) this.#add(pool);
    this.#hasStarted = true;
  }

  stop(): void {
    this.#unsubscribe();
  }

  #update(pool: string): void {
    const status = this.#inventory.mirrorStatus(pool);
    if (status === undefined || status.state === "stopped") this.#remove(pool);
    else if (status.hasLoaded) void this.#removeWhenPublished(pool);
    else if (status.isLoading || !this.#hasStarted) this.#add(pool);
    else if (!this.#first.has(pool)) this.#remove(pool);
  }

  #add(pool: string): void {
    this.#awaited.add(pool);
    if (!this.#hasStarted) this.#first.add(pool);
  }

  #remove(pool: string): void {
    this.#awaited.delete(pool);
    this.#first.delete(pool);
    if (this.#awaited.size === 0) this.#known.clear();
  }

  /** Objects that have just been loaded are not in the views yet. */
  async #removeWhenPublished(pool: string): Promise<void> {
    if (!this.#awaited.has(pool)) return;
    await this.#catalog.settled();
    if (this.#inventory.mirrorStatus(pool)?.hasLoaded !== false)
      this.#remove(pool);
  }
}
