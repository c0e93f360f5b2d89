import { checkName, toJson } from "../schema/limits.js";
import type { BalancerWatchRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** The server that balances a pool, and the state that it publishes. */
export interface BalancerWatch {
  readonly pool: string;
  readonly owner: string;
  /** The server migrates VMs: no other server can claim the pool. */
  readonly isMoving: boolean;
  /** JSON. */
  readonly state: unknown;
  /** Last heartbeat, in ms since the epoch. */
  readonly seenAt: number;
}

export interface WatchClaim {
  readonly pool: string;
  readonly owner: string;
  readonly isMoving: boolean;
  readonly state: unknown;
  /** A claim of another server without a heartbeat since this time, in ms since the epoch, has expired. */
  readonly notSeenSince: number;
  /** Also take over a valid claim of another server, unless it migrates VMs. */
  readonly takesOver?: boolean;
}

/** Which server balances a pool: decided by the database, so that exactly one of several servers does. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class BalancerWatches {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Claims a pool, or renews the claim.
   * @returns `had`: the previous owner (usually this server); undefined: claimed by another server
   */
  async claim(
    claim: WatchClaim,
  ): Promise<{ readonly had: string } | undefined> {
    const row = this.#rowOf(claim);
    return this.#context.committer.run(async (unit) => {
      const inserted = await unit.sql
        .insertInto("balancer_watches")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .returning("id")
        .executeTakeFirst();
      if (inserted !== undefined) return { had: claim.owner };
      // An UPDATE locks the row, a SELECT would not.
      const before = await unit.sql
        .updateTable("balancer_watches")
        .set({ id: row.id })
        .where("id", "=", row.id)
        .returningAll()
        .executeTakeFirst();
      if (before === undefined || !isAvailable(before, claim)) return undefined;
      await unit.sql
        .updateTable("balancer_watches")
        .set(row)
        .where("id", "=", row.id)
        .execute();
      return { had: before.owner };
    });
  }

  /** Releases the claim: other servers can claim the pool immediately. */
  async release(pool: string, owner: string): Promise<void> {
    await this.#context.committer.run((unit) =>
      unit.sql
        .deleteFrom("balancer_watches")
        .where("id", "=", pool)
        .where("owner", "=", owner)
        .execute(),
    );
  }

  async list(): Promise<BalancerWatch[]> {
    const { engine, availability } = this.#context;
    const rows = await availability.run(() =>
      engine.reader.selectFrom("balancer_watches").selectAll().execute(),
    );
    return rows.map(toWatch);
  }

  #rowOf({ pool, owner, isMoving, state }: WatchClaim): BalancerWatchRow {
    return {
      id: checkName("the pool", pool),
      owner: checkName("the owner", owner),
      is_moving: isMoving ? 1 : 0,
      state_json: toJson("the state", state),
      seen_at: this.#context.clock.now(),
    };
  }
}

function isAvailable(before: BalancerWatchRow, claim: WatchClaim): boolean {
  if (before.owner === claim.owner) return true;
  if (before.seen_at < claim.notSeenSince) return true;
  return claim.takesOver === true && before.is_moving === 0;
}

function toWatch(row: BalancerWatchRow): BalancerWatch {
  return {
    pool: row.id,
    owner: row.owner,
    isMoving: row.is_moving === 1,
    state: JSON.parse(row.state_json) as unknown,
    seenAt: row.seen_at,
  };
}
