import type { WallClock } from "@xo-server/kit";
import type { Inventory } from "../mirror/inventory.js";

/** Maximum time for which the views of a pool wait for its first listing, in milliseconds. */
const MAX_WAIT_MS = 10_000;

interface LoadingPoolsOptions {
  readonly inventory: Pick<Inventory, "mirrorStatus" | "onMirrorStatus">;
  readonly clock: WallClock;
  /** Called when the records of a pool are complete, or the maximum wait has passed. */
  readonly onLoaded: (poolId: string) => void;
}

/**
 * Pools whose records are being loaded: by the first listing or from the
 * snapshot. A view built from half of the records would be built again with
 * each class that arrives.
 */
export class LoadingPools {
  readonly #options: LoadingPoolsOptions;
  readonly #unsubscribe: () => void;
  /** By pool id: the timer of a pool that is loading; undefined: it is not. */
  readonly #timers = new Map<string, unknown>();
  /** Pools whose maximum wait has passed. */
  readonly #late = new Set<string>();

  constructor(options: LoadingPoolsOptions) {
    this.#options = options;
    this.#unsubscribe = options.inventory.onMirrorStatus((poolId) => {
      this.#update(poolId);
    });
  }

  /** Whether views of the pool have to wait. */
  has(poolId: string): boolean {
    if (!this.#timers.has(poolId)) this.#update(poolId);
    return this.#timers.get(poolId) !== undefined;
  }

  /** Whether the views of any pool have to wait. */
  get isAny(): boolean {
    for (const timer of this.#timers.values())
      if (timer !== undefined) return true;
    return false;
  }

  stop(): void {
    this.#unsubscribe();
    for (const timer of this.#timers.values())
      this.#options.clock.clearTimeout(timer);
    this.#timers.clear();
  }

  #update(poolId: string): void {
    const { inventory, clock, onLoaded } = this.#options;
    const isLoading = inventory.mirrorStatus(poolId)?.isLoading ?? false;
    if (!isLoading) this.#late.delete(poolId);
    const timer = this.#timers.get(poolId);
    const waits = isLoading && !this.#late.has(poolId);
    if (waits === (timer !== undefined)) {
      this.#timers.set(poolId, timer);
      return;
    }
    if (waits) {
      this.#timers.set(poolId, this.#startTimer(poolId));
      return;
    }
    clock.clearTimeout(timer);
    this.#timers.set(poolId, undefined);
    onLoaded(poolId);
  }

  #startTimer(poolId: string): unknown {
    const { clock, inventory } = this.#options;
    return clock.setTimeout(() => {
      // The pool waits until others are listed: it has no objects to show or to hold back.
      if (inventory.mirrorStatus(poolId)?.objects === 0) {
        this.#timers.set(poolId, this.#startTimer(poolId));
        return;
      }
      this.#late.add(poolId);
      this.#update(poolId);
    }, MAX_WAIT_MS);
  }
}
