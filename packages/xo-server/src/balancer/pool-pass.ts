import { XoError } from "@xo-server/model";
import type { BalancePlan } from "@xo-server/placement";
import type { Store } from "@xo-server/store";
import type { Clock } from "../clock.js";
import { restOf, verdictOf } from "./decide.js";
import { FailedHosts } from "./failed-hosts.js";
import { planPool, toLook, type BalancePlanner, type Look } from "./look.js";
import { balancerItself } from "./move-vm.js";
import type { Policy } from "./policy.js";
import { toReason, type StopReason } from "./pool-run.js";
import { pauseReasonOf, type PoolSight } from "./pool-sight.js";
import type { Cause, Moving, PlanRunner, RanPlan } from "./run-plan.js";
import { RunsOfPool } from "./runs-of-pool.js";
import type { BalancerState } from "./state.js";
import type { WatchKeeper } from "./watch-keeper.js";

/** A policy, as it is now. */
export interface SetPolicy {
  readonly policy: Policy;
  /** Milliseconds since the epoch; 0: nobody has set it. */
  readonly setAt: number;
}

export interface PoolPassParts {
  readonly pool: string;
  readonly owner: string;
  readonly store: Pick<Store, "balancerRuns">;
  readonly policy: () => SetPolicy;
  readonly look: (excludedTags: readonly string[]) => Promise<PoolSight>;
  readonly placement: BalancePlanner;
  readonly runner: Pick<PlanRunner, "run">;
  readonly watch: Pick<WatchKeeper, "keep" | "isHeld">;
  readonly onState: (state: BalancerState) => void;
  readonly clock: Pick<Clock, "now">;
}

/** Looks at a pool once, plans, and has it done if it is time: what comes of it is told as states. */
export class PoolPass {
  readonly #parts: PoolPassParts;
  readonly #runs: RunsOfPool;
  readonly #failed = new FailedHosts();
  /** Since when each look has found something to do. */
  #unbalancedSince: number | undefined;

  constructor(parts: PoolPassParts) {
    this.#parts = parts;
    this.#runs = new RunsOfPool({ ...parts, now: () => parts.clock.now() });
  }

  /** Another server may have done something. */
  forget(): void {
    this.#runs.forget();
  }

  /** @throws XoError STORE_UNAVAILABLE; what the planner throws */
  async pass(): Promise<void> {
    const { onState, policy } = this.#parts;
    if (policy().policy.mode === "off") {
      this.#unbalancedSince = undefined;
      onState({ state: "off" });
      return;
    }
    if (!(await this.#take())) return;
    const look = await this.#look();
    const rest = restOf(look.facts);
    if (rest === undefined) return this.#planAndAct(look);
    this.#unbalancedSince = undefined;
    onState(rest);
  }

  /**
   * Whatever the mode is, and however short it is out of balance.
   * @throws XoError INCORRECT_STATE: it is being done, or there is reason to
   *   leave the pool alone; what the planner throws
   */
  async runNow(cause: Cause, isDry: boolean): Promise<RanPlan> {
    const { pool } = this.#parts;
    if (!(await this.#take(true))) throw busy(pool);
    const look = await this.#look();
    const { pause } = look.facts;
    const mayLook = isDry && pause?.code !== "not-connected";
    if (pause !== undefined && !mayLook)
      throw new XoError("INCORRECT_STATE", {
        object: pool,
        property: "load balancer",
        actual: `paused: ${pause.code}`,
        expected: "watching",
      });
    return this.#carryOut(await this.#plan(look), look, { cause, isDry });
  }

  /** @returns false: another server has it */
  async #take(takesOver = false): Promise<boolean> {
    const kept = await this.#parts.watch.keep(takesOver);
    if (kept === "still") return true;
    this.#runs.forget();
    this.#unbalancedSince = undefined;
    if (kept === false) return false;
    await this.#runs.interrupt();
    return true;
  }

  async #look(): Promise<Look> {
    const { look, clock } = this.#parts;
    const { policy, setAt } = this.#parts.policy();
    const sight = await look(policy.excludedTags);
    const runs = await this.#runs.recent();
    return toLook(sight, {
      policy,
      lookedAt: setAt,
      failed: this.#failed,
      runs,
      now: clock.now(),
    });
  }

  async #plan(look: Look): Promise<BalancePlan> {
    const { pool, placement } = this.#parts;
    return planPool(pool, look, await this.#runs.recent(), placement);
  }

  async #planAndAct(look: Look): Promise<void> {
    const { now, policy } = look.facts;
    const plan = await this.#plan(look);
    await this.#runs.noteMeasured(plan);
    const moves = plan.actions.length;
    const since = this.#unbalancedSince;
    const finding = { moves, stopped: plan.stopped, since };
    const verdict = verdictOf(look.facts, finding);
    if (verdict.act === "rest") {
      this.#parts.onState(verdict.state);
      this.#unbalancedSince = moves > 0 ? (since ?? now) : undefined;
      return;
    }
    const cause = { cause: "automatic", person: balancerItself } as const;
    const isDry = policy.mode === "dry-run";
    await this.#carryOut(plan, look, { cause, isDry });
    const after = restOf((await this.#look()).facts);
    this.#parts.onState(after ?? { state: "watching", why: "balanced" });
  }

  #carryOut(
    plan: BalancePlan,
    { facts }: Look,
    how: { readonly cause: Cause; readonly isDry: boolean },
  ): Promise<RanPlan> {
    const { pool, runner } = this.#parts;
    this.#unbalancedSince = undefined;
    return runner.run({
      ...how,
      pool,
      plan,
      policy: facts.policy,
      runs: this.#runs,
      whyNot: (vms) => this.#whyNot(how.cause, vms),
      onMoving: (moving) => this.#onMoving(moving),
    });
  }

  async #whyNot(
    { cause }: Cause,
    vms: ReadonlySet<string>,
  ): Promise<StopReason | undefined> {
    const { watch, policy, look, clock } = this.#parts;
    if (!watch.isHeld)
      return { code: "other-server", message: "another server balances it" };
    if (cause === "automatic" && policy().policy.mode !== "automatic")
      return { code: "off", message: "it was set off" };
    const sight = await look([]);
    const moving = sight.moving.filter((vm) => !vms.has(vm));
    this.#failed.look(sight, clock.now());
    const { failedAt } = this.#failed;
    const now = clock.now();
    const reason = pauseReasonOf({ ...sight, moving }, failedAt, now);
    return reason && { code: reason.code, message: `paused: ${reason.code}` };
  }

  async #onMoving(moving: Moving): Promise<void> {
    const { watch, onState, pool } = this.#parts;
    onState({ state: "moving", ...moving });
    // From now on nobody takes it over.
    if (moving.done === 0 && (await watch.keep()) === false) throw busy(pool);
  }
}

export function busy(pool: string): XoError {
  return new XoError("INCORRECT_STATE", {
    object: pool,
    property: "load balancer",
    actual: "moving",
    expected: "idle",
  });
}

/** Nothing could be found out. */
export function stateOf(error: unknown): BalancerState {
  const { message } = toReason(error);
  return { state: "paused", reason: { code: "no-plan", message } };
}
