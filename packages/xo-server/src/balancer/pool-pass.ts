import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { BalancePlan } from "@xo-server/placement";
import type { BalancerRun, Store } from "@xo-server/store";
import { decide, MAX_INEFFECTIVE, waitingStateOf } from "./decide.js";
import { FailedHosts } from "./failed-hosts.js";
import {
  planPool,
  toBalancerInput,
  type BalancePlanner,
  type BalancerInput,
} from "./balancer-input.js";
import { balancerUser } from "./execute-migration.js";
import type { Policy } from "./policy.js";
import { toReason, type StopReason } from "./pool-run.js";
import { pauseReasonOf, type PoolObservation } from "./pool-observation.js";
import type {
  RunTrigger,
  RunProgress,
  PlanRunner,
  RunResult,
} from "./plan-runner.js";
import { PoolRuns } from "./pool-runs.js";
import { toOverloadedHosts } from "./overloaded-hosts.js";
import { isIneffective, stopOf } from "./recent-runs.js";
import type { BalancerState } from "./state.js";
import type { PoolLease } from "./pool-lease.js";

/** The current policy of a pool. */
export interface StoredPolicy {
  readonly policy: Policy;
  /** ms since the epoch; 0: none has been set. */
  readonly setAt: number;
}

export interface PoolPassParts {
  readonly pool: string;
  readonly owner: string;
  readonly store: Pick<Store, "balancerRuns">;
  readonly policy: () => StoredPolicy;
  readonly observe: (
    excludedTags: readonly string[],
  ) => Promise<PoolObservation>;
  readonly placement: BalancePlanner;
  readonly runner: Pick<PlanRunner, "run">;
  /** Name of a VM or host by its id. */
  readonly nameOf: (id: string) => string;
  readonly lease: Pick<PoolLease, "renew" | "isHeld">;
  readonly onState: (state: BalancerState) => void;
  readonly clock: Pick<WallClock, "now">;
}

/**
 * One pass: observes a pool, plans, and executes the plan if it is due. Reports
 * the resulting states.
 */
export class PoolPass {
  readonly #parts: PoolPassParts;
  readonly #runs: PoolRuns;
  readonly #failed = new FailedHosts();
  /** Time since which each pass has found migrations to do. */
  #unbalancedSince: number | undefined;

  constructor(parts: PoolPassParts) {
    this.#parts = parts;
    this.#runs = new PoolRuns({ ...parts, now: () => parts.clock.now() });
  }

  /** Another server may have added runs. */
  clearCache(): void {
    this.#runs.clearCache();
  }

  /** @throws XoError STORE_UNAVAILABLE; errors of the planner */
  async pass(): Promise<void> {
    const { onState, policy } = this.#parts;
    if (policy().policy.mode === "off") {
      this.#unbalancedSince = undefined;
      onState({ state: "off" });
      return;
    }
    if (!(await this.#acquire())) return;
    const input = await this.#observe();
    const rest = waitingStateOf(input.conditions);
    if (rest === undefined) return this.#planAndAct(input);
    this.#unbalancedSince = undefined;
    onState(rest);
  }

  /**
   * Runs regardless of the mode and of the duration of the imbalance.
   * @throws XoError INCORRECT_STATE: a run is in progress, or the balancer is
   * paused; errors of the planner
   */
  async runNow(cause: RunTrigger, isDry: boolean): Promise<RunResult> {
    const { pool } = this.#parts;
    if (!(await this.#acquire(true))) throw busy(pool);
    const input = await this.#observe();
    const { pause } = input.conditions;
    const mayPlan = isDry && pause?.code !== "not-connected";
    if (pause !== undefined && !mayPlan)
      throw new XoError("INCORRECT_STATE", {
        object: pool,
        property: "load balancer",
        actual: `paused: ${pause.code}`,
        expected: "idle",
      });
    return this.#carryOut(await this.#plan(input), input, { cause, isDry });
  }

  /** @returns false: another server has the lease */
  async #acquire(takesOver = false): Promise<boolean> {
    const kept = await this.#parts.lease.renew(takesOver);
    if (kept === "renewed") return true;
    this.#runs.clearCache();
    this.#unbalancedSince = undefined;
    if (kept === false) return false;
    await this.#runs.interrupt();
    return true;
  }

  async #observe(): Promise<BalancerInput> {
    const { observe, clock } = this.#parts;
    const { policy, setAt } = this.#parts.policy();
    const observation = await observe(policy.excludedTags);
    const runs = await this.#runs.recent();
    return toBalancerInput(observation, {
      policy,
      resetAt: setAt,
      failed: this.#failed,
      runs,
      now: clock.now(),
    });
  }

  async #plan(input: BalancerInput): Promise<BalancePlan> {
    const { pool, placement } = this.#parts;
    return planPool(pool, input, await this.#runs.recent(), placement);
  }

  /**
   * A run may start no migration because VMs have changed since planning. Then a
   * new plan without these VMs follows; after MAX_INEFFECTIVE such runs, a
   * back-off.
   */
  async #planAndAct(first: BalancerInput): Promise<void> {
    const since = this.#unbalancedSince;
    let input = first;
    for (let attempt = 1; ; attempt++) {
      const run = await this.#planAndRun(input);
      if (run === undefined) return;
      input = await this.#observe();
      const after = waitingStateOf(input.conditions);
      if (
        after !== undefined ||
        !isIneffective(run) ||
        attempt >= MAX_INEFFECTIVE
      )
        return this.#parts.onState(after ?? stateAfter(run));
      this.#unbalancedSince = since;
    }
  }

  /** @returns undefined: nothing was due, and the state has been reported */
  async #planAndRun(input: BalancerInput): Promise<BalancerRun | undefined> {
    const { now, policy } = input.conditions;
    const plan = await this.#plan(input);
    await this.#runs.noteMeasured(plan);
    const moves = plan.actions.length;
    const since = this.#unbalancedSince;
    const overloaded = toOverloadedHosts(plan, this.#parts.nameOf);
    const finding = { moves, stopped: plan.stopped, since, overloaded };
    const verdict = decide(input.conditions, finding);
    if (verdict.act === "rest") {
      this.#parts.onState(verdict.state);
      this.#unbalancedSince = moves > 0 ? (since ?? now) : undefined;
      return undefined;
    }
    const cause = { cause: "automatic", user: balancerUser } as const;
    const isDry = policy.mode === "dry-run";
    const { run } = await this.#carryOut(plan, input, { cause, isDry });
    return run;
  }

  #carryOut(
    plan: BalancePlan,
    { conditions }: BalancerInput,
    how: { readonly cause: RunTrigger; readonly isDry: boolean },
  ): Promise<RunResult> {
    const { pool, runner } = this.#parts;
    this.#unbalancedSince = undefined;
    return runner.run({
      ...how,
      pool,
      plan,
      policy: conditions.policy,
      runs: this.#runs,
      stopReason: (vms) => this.#stopReason(how.cause, vms),
      onProgress: (moving) => this.#onMoving(moving),
    });
  }

  async #stopReason(
    { cause }: RunTrigger,
    vms: ReadonlySet<string>,
  ): Promise<StopReason | undefined> {
    const { lease, policy, observe, clock } = this.#parts;
    if (!lease.isHeld)
      return {
        code: "other-server",
        message: "another server balances the pool",
      };
    if (cause === "automatic" && policy().policy.mode !== "automatic")
      return { code: "off", message: "the load balancer was switched off" };
    const observation = await observe([]);
    const moving = observation.moving.filter((vm) => !vms.has(vm));
    this.#failed.update(observation, clock.now());
    const { failedAt } = this.#failed;
    const now = clock.now();
    const reason = pauseReasonOf({ ...observation, moving }, failedAt, now);
    return reason && { code: reason.code, message: `paused: ${reason.code}` };
  }

  async #onMoving(moving: RunProgress): Promise<void> {
    const { lease, onState, pool } = this.#parts;
    onState({ state: "migrating", ...moving });
    // While migrations are in progress no other server takes the lease.
    if (moving.done === 0 && (await lease.renew()) === false) throw busy(pool);
  }
}

/** XoError INCORRECT_STATE: the balancer of the pool is migrating VMs. */
export function busy(pool: string): XoError {
  return new XoError("INCORRECT_STATE", {
    object: pool,
    property: "load balancer",
    actual: "migrating",
    expected: "idle",
  });
}

/** The state after a run when there is no reason to wait. */
function stateAfter(run: BalancerRun): BalancerState {
  const stop = stopOf(run);
  return stop === undefined
    ? {
        state: "cooldown",
        why: run.status === "dry-run" ? "dry-run" : "measuring",
        until: run.endedAt ?? run.startedAt,
      }
    : { state: "idle", why: "stopped", stop };
}

/** The state after a pass that failed. */
export function pausedByError(error: unknown): BalancerState {
  const { message } = toReason(error);
  return { state: "paused", reason: { code: "no-plan", message } };
}
