import { checkName, toJson } from "../schema/limits.js";
import type { BalancerPolicyRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** The balancer policy of a pool. */
export interface BalancerPolicy {
  readonly pool: string;
  /** JSON. */
  readonly body: unknown;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** Policies of the load balancer, one per pool. Changes throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class BalancerPolicies {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  get(pool: string): BalancerPolicy | undefined {
    const row = this.#context.tables.balancerPolicies.get(pool);
    return row && toPolicy(row);
  }

  *list(): IterableIterator<BalancerPolicy> {
    for (const row of this.#context.tables.balancerPolicies.values())
      yield toPolicy(row);
  }

  /** @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async set(pool: string, body: unknown): Promise<BalancerPolicy> {
    const { tables, committer, clock } = this.#context;
    const row: BalancerPolicyRow = {
      id: checkName("the pool", pool),
      body_json: toJson("the policy", body),
      updated_at: clock.now(),
    };
    await committer.run(async (unit) => {
      await unit.sql
        .insertInto("balancer_policies")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
      unit.addChange({ target: tables.balancerPolicies, id: pool, row });
    });
    return toPolicy(row);
  }
}

function toPolicy({
  id,
  body_json,
  updated_at,
}: BalancerPolicyRow): BalancerPolicy {
  return {
    pool: id,
    body: JSON.parse(body_json) as unknown,
    updatedAt: updated_at,
  };
}
