import { checkName, toJson } from "../limits.js";
import type { BalancerPolicyRow } from "../tables.js";
import type { Parts } from "./parts.js";

/** How a pool is balanced. */
export interface BalancerPolicy {
  readonly pool: string;
  /** JSON. */
  readonly body: unknown;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
}

/** Policies of the load balancer, one a pool. Changes throw XoError STORE_UNAVAILABLE while the database is gone. */
export class BalancerPolicies {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get(pool: string): BalancerPolicy | undefined {
    const row = this.#parts.tables.balancerPolicies.get(pool);
    return row && toPolicy(row);
  }

  *list(): IterableIterator<BalancerPolicy> {
    for (const row of this.#parts.tables.balancerPolicies.values())
      yield toPolicy(row);
  }

  /** @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async set(pool: string, body: unknown): Promise<BalancerPolicy> {
    const { tables, committer, clock } = this.#parts;
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
      unit.changed({ target: tables.balancerPolicies, id: pool, row });
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
