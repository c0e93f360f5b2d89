import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import type { Logger } from "../log/logger.js";
import { busy, PoolPass, stateOf, type PoolPassParts } from "./pool-pass.js";
import { toReason } from "./pool-run.js";
import type { Cause, RanPlan } from "./run-plan.js";
import type { BalancerState } from "./state.js";
import { WatchKeeper, type ToldState } from "./watch-keeper.js";

export interface PoolBalancerParts extends Omit<
  PoolPassParts,
  "watch" | "onState" | "store"
> {
  readonly store: Pick<Store, "balancerRuns" | "balancerWatches">;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "warn">;
}

/** Balances one pool, again and again: one pass at a time, and one at each interval of its policy. */
export class PoolBalancer {
  readonly #parts: PoolBalancerParts;
  readonly #pass: PoolPass;
  readonly #watch: WatchKeeper;
  #state: BalancerState = { state: "off" };
  #since: number;
  #next: number | undefined;
  #timer: unknown;
  #lane: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: PoolBalancerParts) {
    this.#parts = parts;
    this.#since = parts.clock.now();
    this.#watch = new WatchKeeper({
      ...parts,
      told: () => this.told,
      onLost: () => {
        this.#pass.forget();
      },
    });
    this.#pass = new PoolPass({
      ...parts,
      watch: this.#watch,
      onState: (state) => {
        this.#become(state);
      },
    });
  }

  /** False: another server balances the pool, or nobody does. */
  get isHere(): boolean {
    return this.#watch.isHeld;
  }

  get told(): ToldState {
    const next = this.#next === undefined ? {} : { next: this.#next };
    return { state: this.#state, since: this.#since, ...next };
  }

  /** Soon, and from then on as the policy says. */
  wake(): void {
    this.#passAfter(0);
  }

  /** @throws XoError as PoolPass.runNow */
  async runNow(cause: Cause, isDry: boolean): Promise<RanPlan> {
    if (this.#state.state === "moving") throw busy(this.#parts.pool);
    try {
      return await this.#inTurn(() => this.#pass.runNow(cause, isDry));
    } finally {
      this.#endMoving();
      this.wake();
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#lane;
  }

  /** Nothing more is begun; what has begun is left to the pool. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
    if (this.#state.state === "moving") this.#watch.stop();
    else await this.#watch.release().catch(() => undefined);
  }

  /** What comes next is told by the pass that follows. */
  #endMoving(): void {
    if (this.#state.state === "moving") this.#become({ state: "off" });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lane.then(work);
    this.#lane = turn.catch(() => undefined);
    return turn;
  }

  #passAfter(ms: number): void {
    const { clock } = this.#parts;
    clock.clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#next = clock.now() + ms;
    this.#timer = clock.setTimeout(() => {
      void this.#inTurn(() => this.#passAndGoOn());
    }, ms);
  }

  async #passAndGoOn(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.#pass.pass();
    } catch (error) {
      if (!this.#isStopped) this.#fail(error);
    }
    if (this.#isStopped) return;
    if (this.#parts.policy().policy.mode === "off") await this.#rest();
    else await this.#goOn();
  }

  async #rest(): Promise<void> {
    this.#parts.clock.clearTimeout(this.#timer);
    this.#next = undefined;
    await this.#watch.release().catch(() => undefined);
  }

  async #goOn(): Promise<void> {
    this.#passAfter(this.#untilNext());
    // What others are told is what has come of it.
    if (this.isHere) await this.#watch.keep().catch(() => undefined);
  }

  /** In ms: sooner than the interval where something ends before. */
  #untilNext(): number {
    const { policy, clock } = this.#parts;
    const interval = policy().policy.intervalSeconds * 1000;
    const { until } = this.#state as { readonly until?: number };
    const left = until === undefined ? 0 : until - clock.now();
    return left > 0 ? Math.min(interval, left) : interval;
  }

  #fail(error: unknown): void {
    const { logger, pool } = this.#parts;
    this.#become(stateOf(error));
    // While the store is gone it says so itself.
    if (toReason(error).code !== "STORE_UNAVAILABLE")
      logger.warn(`load balancer: pool ${pool} is not looked at`, { error });
  }

  #become(state: BalancerState): void {
    const { pool, logger, clock } = this.#parts;
    const before = this.#state;
    this.#state = state;
    if (before.state === state.state) return;
    this.#since = clock.now();
    if (state.state === "backing-off" && state.until === undefined)
      logger.warn(
        `load balancer: pool ${pool} is left alone after ${state.failures} failed runs`,
      );
  }
}
