import { Semaphore } from "@xo-server/inventory";
import type { BalancePolicy } from "@xo-server/placement";
import type { BalancerRunPage, Store } from "@xo-server/store";
import { toBalancePolicy, type BalancePlanner } from "./balancer-input.js";
import { toPolicy } from "./stored-json.js";
import { checkPolicy, type Policy } from "./policy.js";
import { PoolBalancer, type PoolBalancerParts } from "./pool-balancer.js";
import type { StoredPolicy } from "./pool-pass.js";
import type { PoolObservation } from "./pool-observation.js";
import type { RunTrigger, RunResult } from "./plan-runner.js";
import type { PublishedState } from "./published-state.js";

interface BalancerParts extends Omit<
  PoolBalancerParts,
  "pool" | "policy" | "observe"
> {
  readonly store: Pick<
    Store,
    "balancerPolicies" | "balancerRuns" | "balancerWatches" | "onChange"
  >;
  readonly observe: (
    pool: string,
    excludedTags: readonly string[],
  ) => Promise<PoolObservation>;
}

/** Policy and state of one pool. */
export interface BalancerStatus {
  readonly policy: Policy;
  /** False: no policy has been set, the default applies. */
  readonly isSet: boolean;
  readonly published: PublishedState;
  /** Another server with the same database balances the pool. */
  readonly isOnOtherServer: boolean;
}

/** Balances all pools whose policy is not off. */
export class Balancer {
  readonly #parts: BalancerParts;
  readonly #pools = new Map<string, PoolBalancer>();
  /** Time of the last policy change that was applied, by pool. */
  readonly #known = new Map<string, number>();
  readonly #placement: BalancePlanner;
  #stopListening: () => void = () => undefined;

  constructor(parts: BalancerParts) {
    this.#parts = parts;
    this.#placement = oneAtATime(parts.placement);
  }

  /** Starts balancing. To be called when pools can be observed. */
  start(): void {
    const { store } = this.#parts;
    this.#stopListening = store.onChange((table) => {
      if (table === "balancer_policies") this.#apply();
    });
    this.#apply();
  }

  async stop(): Promise<void> {
    this.#stopListening();
    await Promise.all(Array.from(this.#pools.values(), (one) => one.stop()));
  }

  /** Resolves when no pass and no run is in progress. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), (one) => one.idle()));
  }

  policyOf(pool: string): StoredPolicy {
    const stored = this.#parts.store.balancerPolicies.get(pool);
    return { policy: toPolicy(stored?.body), setAt: stored?.updatedAt ?? 0 };
  }

  /**
   * The policy for requested plans, without the cooldown of recently migrated
   * VMs.
   */
  async planPolicyOf(pool: string): Promise<BalancePolicy> {
    const { policy } = this.policyOf(pool);
    const { staying } = await this.#parts.observe(pool, policy.excludedTags);
    return toBalancePolicy(policy, staying);
  }

  /**
   * Changes a policy; members that are not given remain.
   * @throws XoError INVALID_PARAMETERS, STORE_UNAVAILABLE
   */
  async setPolicy(pool: string, change: Partial<Policy>): Promise<Policy> {
    const policy = { ...this.policyOf(pool).policy, ...change };
    checkPolicy(policy);
    await this.#parts.store.balancerPolicies.set(pool, policy);
    return policy;
  }

  /**
   * Statuses by pool id.
   * @throws XoError STORE_UNAVAILABLE
   */
  async statuses(
    pools: readonly string[],
  ): Promise<Map<string, BalancerStatus>> {
    const watches = await this.#parts.store.balancerWatches.list();
    const others = new Map(
      watches
        .filter(({ owner }) => owner !== this.#parts.owner)
        .map((one) => [one.pool, one.state as PublishedState]),
    );
    return new Map(
      pools.map((pool) => [pool, this.#statusOf(pool, others.get(pool))]),
    );
  }

  /** @throws XoError as PoolPass.runNow */
  run(pool: string, cause: RunTrigger, isDry: boolean): Promise<RunResult> {
    return this.#poolOf(pool).runNow(cause, isDry);
  }

  /**
   * Runs of a pool, newest first.
   * @throws XoError STORE_UNAVAILABLE, INVALID_PARAMETERS
   */
  history(
    pool: string,
    page: { readonly limit?: number; readonly cursor?: string },
  ): Promise<BalancerRunPage> {
    return this.#parts.store.balancerRuns.list({ pool, ...page });
  }

  #statusOf(pool: string, other: PublishedState | undefined): BalancerStatus {
    const here = this.#pools.get(pool);
    const isElsewhere = other !== undefined && here?.isHere !== true;
    const off: PublishedState = { state: { state: "off" }, since: 0 };
    const { policy, setAt } = this.policyOf(pool);
    const published = isElsewhere ? other : (here?.published ?? off);
    return {
      policy,
      isSet: setAt > 0,
      published,
      isOnOtherServer: isElsewhere,
    };
  }

  /** Applies policies that any server has changed since the last call. */
  #apply(): void {
    for (const {
      pool,
      body,
      updatedAt,
    } of this.#parts.store.balancerPolicies.list()) {
      if (this.#known.get(pool) === updatedAt) continue;
      this.#known.set(pool, updatedAt);
      const { mode } = toPolicy(body);
      if (mode !== "off" || this.#pools.has(pool)) this.#poolOf(pool).wake();
    }
  }

  #poolOf(pool: string): PoolBalancer {
    let one = this.#pools.get(pool);
    if (one === undefined) {
      one = new PoolBalancer({
        ...this.#parts,
        pool,
        placement: this.#placement,
        policy: () => this.policyOf(pool),
        observe: (tags) => this.#parts.observe(pool, tags),
      });
      this.#pools.set(pool, one);
    }
    return one;
  }
}

/**
 * Queues the requests of all pools, so that other users of the planner need not
 * wait until all of them are done.
 */
function oneAtATime(placement: BalancePlanner): BalancePlanner {
  const turns = new Semaphore(1);
  return {
    model: (pool) => turns.run(() => placement.model(pool)),
    planner: {
      balance: (...args) => turns.run(() => placement.planner.balance(...args)),
    },
  };
}
