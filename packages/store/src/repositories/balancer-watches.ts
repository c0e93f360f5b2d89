import { checkName, toJson } from "../schema/limits.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";

/** The server that balances a pool, and the state that it publishes. */
export interface BalancerWatch {
  readonly pool: string;
  readonly owner: string;
  /** JSON. */
  readonly state: unknown;
}

/** What servers publish of the pools that they balance. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class BalancerWatches {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** @throws XoError LEASE_LOST, VALUE_TOO_LARGE */
  async put(watch: BalancerWatch, fence?: Fence): Promise<void> {
    const row = {
      id: checkName("the pool", watch.pool),
      owner: checkName("the owner", watch.owner),
      state_json: toJson("the state", watch.state),
    };
    await this.#context.committer.run(async (unit) => {
      await checkFence(unit, fence);
      await unit.sql
        .insertInto("balancer_watches")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
        .execute();
    });
  }

  /** The pool is not balanced any more. @throws XoError LEASE_LOST */
  async delete(pool: string, fence?: Fence): Promise<void> {
    await this.#context.committer.run(async (unit) => {
      await checkFence(unit, fence);
      await unit.sql
        .deleteFrom("balancer_watches")
        .where("id", "=", pool)
        .execute();
    });
  }

  async list(): Promise<BalancerWatch[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader.selectFrom("balancer_watches").selectAll().execute(),
    );
    return rows.map(({ id, owner, state_json }) => ({
      pool: id,
      owner,
      state: JSON.parse(state_json) as unknown,
    }));
  }
}
