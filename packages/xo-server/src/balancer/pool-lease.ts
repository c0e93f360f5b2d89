import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { BalancerState } from "./state.js";

/** The state of a pool as other servers with the same database see it. */
export interface PublishedState {
  readonly state: BalancerState;
  /** ms since the epoch. */
  readonly since: number;
  /** Time of the next pass, ms since the epoch; absent: not scheduled. */
  readonly next?: number;
}

export interface PoolLeaseParts {
  readonly pool: string;
  readonly owner: string;
  readonly store: Pick<Store, "balancerWatches">;
  readonly clock: WallClock;
  /** The state to publish. */
  readonly published: () => PublishedState;
  /** Another server has taken the lease. */
  readonly onLost: () => void;
}

/** A lease that was not renewed for this time can be taken over. */
const LEASE_TIMEOUT_MS = 150_000;
/** Interval of renewals. */
const HEARTBEAT_MS = 45_000;

/**
 * A lease on a pool: of several servers with one database, exactly one balances
 * the pool.
 */
export class PoolLease {
  readonly #parts: PoolLeaseParts;
  #isHeld = false;
  #timer: unknown;

  constructor(parts: PoolLeaseParts) {
    this.#parts = parts;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Takes or renews the lease.
   * @param takesOver even if another server has it
   * @returns acquired: this server did not have it before; renewed: it had;
   *   false: another server has it
   * @throws XoError STORE_UNAVAILABLE
   */
  async renew(takesOver = false): Promise<"acquired" | "renewed" | false> {
    const { pool, owner, store, clock, published } = this.#parts;
    const state = published();
    const kept = await store.balancerWatches.claim({
      pool,
      owner,
      state,
      takesOver,
      isMoving: state.state.state === "migrating",
      notSeenSince: clock.now() - LEASE_TIMEOUT_MS,
    });
    const wasHeld = this.#isHeld;
    this.#isHeld = kept !== undefined;
    if (!this.#isHeld) {
      this.#stopHeartbeat();
      return false;
    }
    this.#scheduleHeartbeat();
    return wasHeld && kept?.had === owner ? "renewed" : "acquired";
  }

  /** Releases the lease to other servers. */
  async release(): Promise<void> {
    this.#stopHeartbeat();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const { pool, owner, store } = this.#parts;
    await store.balancerWatches.release(pool, owner);
  }

  stop(): void {
    this.#stopHeartbeat();
    this.#isHeld = false;
  }

  #scheduleHeartbeat(): void {
    this.#stopHeartbeat();
    this.#timer = this.#parts.clock.setTimeout(
      () => void this.#heartbeat(),
      HEARTBEAT_MS,
    );
  }

  #stopHeartbeat(): void {
    this.#parts.clock.clearTimeout(this.#timer);
  }

  async #heartbeat(): Promise<void> {
    try {
      if (this.#isHeld && (await this.renew()) === false) this.#parts.onLost();
    } catch {
      // Database failures are reported by the database itself. While it is
      // unavailable no other server can take the lease.
      if (this.#isHeld) this.#scheduleHeartbeat();
    }
  }
}
