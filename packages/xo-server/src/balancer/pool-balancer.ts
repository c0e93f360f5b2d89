import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Leases } from "../cluster/leases.js";
import type { Logger } from "../log/logger.js";
import {
  busy,
  PoolPass,
  pausedByError,
  type PoolPassParts,
} from "./pool-pass.js";
import { toReason } from "./pool-run.js";
import { isNotice, reasonOf } from "./public-reason.js";
import type { RunTrigger, RunResult } from "./plan-runner.js";
import type { BalancerState } from "./state.js";
import { PoolLease } from "./pool-lease.js";
import type { PublishedState } from "./published-state.js";

export interface PoolBalancerParts extends Omit<
  PoolPassParts,
  "lease" | "onState" | "store"
> {
  readonly store: Pick<Store, "balancerRuns" | "balancerWatches">;
  readonly leases: Pick<Leases, "compete">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "warn">;
}

/**
 * Runs the passes of one pool one after another: at the interval of its policy,
 * earlier when a wait ends.
 */
export class PoolBalancer {
  readonly #parts: PoolBalancerParts;
  readonly #pass: PoolPass;
  readonly #lease: PoolLease;
  #state: BalancerState = { state: "off" };
  #since: number;
  #next: number | undefined;
  #timer: unknown;
  #queue: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: PoolBalancerParts) {
    this.#parts = parts;
    this.#since = parts.clock.now();
    this.#lease = new PoolLease({
      ...parts,
      published: () => this.published,
      onHeld: () => {
        this.wake();
      },
      onLost: () => {
        this.#pass.clearCache();
      },
    });
    this.#pass = new PoolPass({
      ...parts,
      lease: this.#lease,
      onState: (state) => {
        this.#setState(state);
      },
    });
  }

  /** False: another server balances the pool, or no server does. */
  get isHere(): boolean {
    return this.#lease.isHeld;
  }

  get published(): PublishedState {
    const next = this.#next === undefined ? {} : { next: this.#next };
    return { state: this.#state, since: this.#since, ...next };
  }

  /** Schedules a pass now; the policy determines the next ones. */
  wake(): void {
    this.#passAfter(0);
  }

  /** @throws XoError as PoolPass.runNow */
  async runNow(cause: RunTrigger, isDry: boolean): Promise<RunResult> {
    if (this.#state.state === "migrating") throw busy(this.#parts.pool);
    try {
      return await this.#enqueue(() => this.#pass.runNow(cause, isDry));
    } finally {
      this.#endMigrating();
      this.wake();
    }
  }

  /** Resolves when no pass and no run is in progress. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  /** No more migrations start; those in progress are left to XAPI. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#parts.clock.clearTimeout(this.#timer);
    // Without the database the lease expires.
    await this.#lease.release().catch(() => undefined);
  }

  /** The following pass sets the actual state. */
  #endMigrating(): void {
    if (this.#state.state === "migrating") this.#setState({ state: "off" });
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    // The caller gets the error; the next turn runs anyway.
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  #passAfter(ms: number): void {
    const { clock } = this.#parts;
    clock.clearTimeout(this.#timer);
    if (this.#isStopped) return;
    this.#next = clock.now() + ms;
    this.#timer = clock.setTimeout(() => {
      void this.#enqueue(() => this.#passAndSchedule());
    }, ms);
  }

  async #passAndSchedule(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.#pass.pass();
    } catch (error) {
      if (!this.#isStopped) this.#fail(error);
    }
    if (this.#isStopped) return;
    if (this.#parts.policy().policy.mode === "off") await this.#stopPasses();
    else await this.#scheduleNext();
  }

  async #stopPasses(): Promise<void> {
    this.#parts.clock.clearTimeout(this.#timer);
    this.#next = undefined;
    // A lease that is not released expires by itself.
    await this.#lease.release().catch(() => undefined);
  }

  async #scheduleNext(): Promise<void> {
    this.#passAfter(this.#untilNext());
    // Publishes the outcome for other servers. The holder of a lease handles its
    // loss if the renewal fails.
    if (this.isHere) await this.#lease.renew().catch(() => undefined);
  }

  /** Time until the next evaluation, in ms; less than the interval when a wait ends earlier. */
  #untilNext(): number {
    const { policy, clock } = this.#parts;
    const interval = policy().policy.intervalSeconds * 1000;
    const { until } = this.#state as { readonly until?: number };
    const left = until === undefined ? 0 : until - clock.now();
    return left > 0 ? Math.min(interval, left) : interval;
  }

  #fail(error: unknown): void {
    const { logger, pool } = this.#parts;
    this.#setState(pausedByError(error));
    // Database failures are reported by the database itself.
    if (toReason(error).code !== "STORE_UNAVAILABLE")
      logger.warn(`load balancer: pool ${pool} could not be evaluated`, {
        error,
      });
  }

  #setState(state: BalancerState): void {
    const { pool, logger, clock, nameOf } = this.#parts;
    const before = this.#state;
    this.#state = state;
    if (before.state === state.state) return;
    this.#since = clock.now();
    if (state.state !== "back-off" || !isNotice(state)) return;
    const { message, vm } = reasonOf(state)!;
    logger.warn(`load balancer: ${nameOf(pool)}: ${message}`, {
      pool,
      ...(vm === undefined ? {} : { vm }),
    });
  }
}
