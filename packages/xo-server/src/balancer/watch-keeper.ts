import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { BalancerState } from "./state.js";

/** What other servers are told of a pool. */
export interface ToldState {
  readonly state: BalancerState;
  /** ms since the epoch. */
  readonly since: number;
  /** When it is looked at next; absent: when something happens. */
  readonly next?: number;
}

export interface WatchKeeperParts {
  readonly pool: string;
  readonly owner: string;
  readonly store: Pick<Store, "balancerWatches">;
  readonly clock: Clock;
  /** What is to be told now. */
  readonly told: () => ToldState;
  /** Another server has the watch. */
  readonly onLost: () => void;
}

/** A server of which nothing was seen for so long is gone, in ms. */
const GONE_MS = 150_000;
/** Between two words to others, in ms. */
const BEAT_MS = 45_000;

/** Sees to it that of several servers with one store one balances a pool. */
export class WatchKeeper {
  readonly #parts: WatchKeeperParts;
  #isHeld = false;
  #timer: unknown;

  constructor(parts: WatchKeeperParts) {
    this.#parts = parts;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /**
   * Takes the watch, or says that it goes on.
   * @returns anew: this server did not have it before; false: another has it
   * @throws XoError STORE_UNAVAILABLE
   */
  async keep(takesOver = false): Promise<"anew" | "still" | false> {
    const { pool, owner, store, clock, told } = this.#parts;
    const state = told();
    const kept = await store.balancerWatches.claim({
      pool,
      owner,
      state,
      takesOver,
      isMoving: state.state.state === "moving",
      notSeenSince: clock.now() - GONE_MS,
    });
    const wasHeld = this.#isHeld;
    this.#isHeld = kept !== undefined;
    if (!this.#isHeld) {
      this.#stopBeating();
      return false;
    }
    this.#beatLater();
    return wasHeld && kept?.had === owner ? "still" : "anew";
  }

  /** Others may have it. */
  async release(): Promise<void> {
    this.#stopBeating();
    if (!this.#isHeld) return;
    this.#isHeld = false;
    const { pool, owner, store } = this.#parts;
    await store.balancerWatches.release(pool, owner);
  }

  stop(): void {
    this.#stopBeating();
    this.#isHeld = false;
  }

  #beatLater(): void {
    this.#stopBeating();
    this.#timer = this.#parts.clock.setTimeout(
      () => void this.#beat(),
      BEAT_MS,
    );
  }

  #stopBeating(): void {
    this.#parts.clock.clearTimeout(this.#timer);
  }

  async #beat(): Promise<void> {
    try {
      if (this.#isHeld && (await this.keep()) === false) this.#parts.onLost();
    } catch {
      // The store tells of itself; as long as it is gone nobody else can take the watch.
      if (this.#isHeld) this.#beatLater();
    }
  }
}
