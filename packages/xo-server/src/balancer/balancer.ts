import { Turns } from "@xo-server/inventory";
import type { BalancePolicy } from "@xo-server/placement";
import type { BalancerRunPage, Store } from "@xo-server/store";
import { toBalancePolicy, type BalancePlanner } from "./look.js";
import { checkPolicy, toPolicy, type Policy } from "./policy.js";
import { PoolBalancer, type PoolBalancerParts } from "./pool-balancer.js";
import type { SetPolicy } from "./pool-pass.js";
import type { PoolSight } from "./pool-sight.js";
import type { Cause, RanPlan } from "./run-plan.js";
import type { ToldState } from "./watch-keeper.js";

export interface BalancerParts extends Omit<
  PoolBalancerParts,
  "pool" | "policy" | "look"
> {
  readonly store: Pick<
    Store,
    "balancerPolicies" | "balancerRuns" | "balancerWatches" | "onChange"
  >;
  readonly look: (
    pool: string,
    excludedTags: readonly string[],
  ) => Promise<PoolSight>;
}

/** How it is with one pool. */
export interface PoolStanding {
  readonly policy: Policy;
  /** False: it is the default, nobody has set one. */
  readonly isSet: boolean;
  readonly told: ToldState;
  /** Another server with the same store balances it. */
  readonly isElsewhere: boolean;
}

/** Balances the pools that have a policy which is not off. */
export class Balancer {
  readonly #parts: BalancerParts;
  readonly #pools = new Map<string, PoolBalancer>();
  /** When each policy was set that has been acted on. */
  readonly #known = new Map<string, number>();
  readonly #placement: BalancePlanner;
  #stopListening: () => void = () => undefined;

  constructor(parts: BalancerParts) {
    this.#parts = parts;
    this.#placement = oneAtATime(parts.placement);
  }

  /** When pools can be looked at. */
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

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all(Array.from(this.#pools.values(), (one) => one.idle()));
  }

  policyOf(pool: string): SetPolicy {
    const stored = this.#parts.store.balancerPolicies.get(pool);
    return { policy: toPolicy(stored?.body), setAt: stored?.updatedAt ?? 0 };
  }

  /** As the planner takes it where somebody asks for a plan: what has been moved lately counts as any other. */
  async planPolicyOf(pool: string): Promise<BalancePolicy> {
    const { policy } = this.policyOf(pool);
    const { staying } = await this.#parts.look(pool, policy.excludedTags);
    return toBalancePolicy(policy, staying);
  }

  /**
   * What is not given stays.
   * @throws XoError INVALID_PARAMETERS, STORE_UNAVAILABLE
   */
  async setPolicy(pool: string, change: Partial<Policy>): Promise<Policy> {
    const policy = { ...this.policyOf(pool).policy, ...change };
    checkPolicy(policy);
    await this.#parts.store.balancerPolicies.set(pool, policy);
    return policy;
  }

  /** Of those pools, by their ids. @throws XoError STORE_UNAVAILABLE */
  async standings(
    pools: readonly string[],
  ): Promise<Map<string, PoolStanding>> {
    const watches = await this.#parts.store.balancerWatches.list();
    const others = new Map(
      watches
        .filter(({ owner }) => owner !== this.#parts.owner)
        .map((one) => [one.pool, one.state as ToldState]),
    );
    return new Map(
      pools.map((pool) => [pool, this.#standingOf(pool, others.get(pool))]),
    );
  }

  /** @throws XoError as PoolPass.runNow */
  run(pool: string, cause: Cause, isDry: boolean): Promise<RanPlan> {
    return this.#poolOf(pool).runNow(cause, isDry);
  }

  /** Newest first. @throws XoError STORE_UNAVAILABLE, INVALID_PARAMETERS */
  history(
    pool: string,
    page: { readonly limit?: number; readonly cursor?: string },
  ): Promise<BalancerRunPage> {
    return this.#parts.store.balancerRuns.list({ pool, ...page });
  }

  #standingOf(pool: string, other: ToldState | undefined): PoolStanding {
    const here = this.#pools.get(pool);
    const isElsewhere = other !== undefined && here?.isHere !== true;
    const off: ToldState = { state: { state: "off" }, since: 0 };
    const { policy, setAt } = this.policyOf(pool);
    const told = isElsewhere ? other : (here?.told ?? off);
    return { policy, isSet: setAt > 0, told, isElsewhere };
  }

  /** Each policy that was set since, by whichever server. */
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
        look: (tags) => this.#parts.look(pool, tags),
      });
      this.#pools.set(pool, one);
    }
    return one;
  }
}

/** Of a hundred pools that are looked at in the same second one after the other is planned for: others wait for the planner, too. */
function oneAtATime(placement: BalancePlanner): BalancePlanner {
  const turns = new Turns(1);
  return {
    model: (pool) => turns.take(() => placement.model(pool)),
    planner: {
      balance: (...asked) =>
        turns.take(() => placement.planner.balance(...asked)),
    },
  };
}
