import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { HeldLease } from "../cluster/held-lease.js";
import type { Contention } from "../cluster/contention.js";
import type { Leases } from "../cluster/leases.js";
import type { PublishedState } from "./published-state.js";

interface PoolLeaseParts {
  readonly pool: string;
  /** Name of this server. */
  readonly owner: string;
  readonly leases: Pick<Leases, "compete">;
  readonly store: Pick<Store, "balancerWatches">;
  /** The state to publish. */
  readonly published: () => PublishedState;
  /** Called when the lease was taken between two passes. */
  readonly onHeld: () => void;
  /** Called when another server has taken the lease. */
  readonly onLost: () => void;
}

/**
 * The lease on a pool: of several servers with one database, the one that has it
 * balances the pool.
 */
export class PoolLease {
  readonly #parts: PoolLeaseParts;
  #contention: Contention | undefined;
  /** The lease at the last renewal. */
  #known: HeldLease | undefined;
  #isRenewing = false;

  constructor(parts: PoolLeaseParts) {
    this.#parts = parts;
  }

  /** Whether migrations may start. */
  get isHeld(): boolean {
    return this.#contention?.lease?.isValid === true;
  }

  /**
   * Competes for the lease, and publishes the state if this server has it.
   * @param takesOver whether the lease is requested from another server; it
   * refuses while it migrates VMs
   * @returns acquired: this server did not have the lease before; renewed: it did;
   * false: another server has it
   * @throws XoError STORE_UNAVAILABLE
   */
  async renew(takesOver = false): Promise<"acquired" | "renewed" | false> {
    this.#isRenewing = true;
    try {
      const lease = await this.#find(takesOver);
      if (lease === undefined) return false;
      await this.#publish(lease);
      await lease.untilValid();
      const isKnown = this.#known === lease;
      this.#known = lease;
      return isKnown ? "renewed" : "acquired";
    } catch (error) {
      if (error instanceof XoError && error.code === "LEASE_LOST") return false;
      throw error;
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Releases the lease, so that other servers can take it. */
  async release(): Promise<void> {
    const contention = this.#contention;
    if (contention === undefined) return;
    this.#contention = undefined;
    const { pool, store } = this.#parts;
    if (contention.lease !== undefined)
      await store.balancerWatches
        .delete(pool, contention.lease.fence)
        // Without the database only the published state remains outdated.
        .catch(() => undefined);
    await contention.stop();
  }

  async #find(takesOver: boolean): Promise<HeldLease | undefined> {
    const contention = (this.#contention ??= this.#compete());
    await contention.hasTried;
    if (contention.lease !== undefined || !takesOver) return contention.lease;
    return (await this.#isMigratingElsewhere())
      ? undefined
      : contention.obtain();
  }

  #compete(): Contention {
    const { pool, leases, published, onHeld, onLost } = this.#parts;
    return leases.compete(`balancer/${pool}`, {
      onHeld: () => {
        if (!this.#isRenewing) onHeld();
      },
      onLost,
      mayMove: () => published().state.state !== "migrating",
    });
  }

  async #publish({ fence }: HeldLease): Promise<void> {
    const { pool, owner, store, published } = this.#parts;
    const watch = { pool, owner, state: published() };
    await store.balancerWatches.put(watch, fence);
  }

  async #isMigratingElsewhere(): Promise<boolean> {
    const { pool, owner, store } = this.#parts;
    const watches = await store.balancerWatches.list();
    const other = watches.find((one) => one.pool === pool);
    return (
      other !== undefined &&
      other.owner !== owner &&
      (other.state as PublishedState).state.state === "migrating"
    );
  }
}
