import { checkName, toJson } from "../schema/limits.js";
import type { BalancerWatchRow } from "../schema/tables.js";
import type { RepositoryContext } from "./repository-context.js";

/** The server that balances a pool, and what it says of it. */
export interface BalancerWatch {
  readonly pool: string;
  readonly owner: string;
  /** It moves VMs: nobody takes the watch from it. */
  readonly isMoving: boolean;
  /** JSON. */
  readonly state: unknown;
  /** When it last said so, in ms since the epoch. */
  readonly seenAt: number;
}

export interface WatchClaim {
  readonly pool: string;
  readonly owner: string;
  readonly isMoving: boolean;
  readonly state: unknown;
  /** Another's watch is taken that was not seen since: its server is gone. */
  readonly notSeenSince: number;
  /** Also another's that is seen, unless it moves VMs. */
  readonly takesOver?: boolean;
}

/** Who balances a pool: decided by the database, so that of several servers one does. Everything throws XoError STORE_UNAVAILABLE while it is gone. */
export class BalancerWatches {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Takes the watch of a pool, or says that it goes on.
   * @returns who had it before (itself as a rule), undefined: another server has it
   */
  async claim(wish: WatchClaim): Promise<{ readonly had: string } | undefined> {
    const row = this.#rowOf(wish);
    return this.#context.committer.run(async (unit) => {
      const made = await unit.sql
        .insertInto("balancer_watches")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .returning("id")
        .executeTakeFirst();
      if (made !== undefined) return { had: wish.owner };
      // Writing locks the row, reading would not.
      const before = await unit.sql
        .updateTable("balancer_watches")
        .set({ id: row.id })
        .where("id", "=", row.id)
        .returningAll()
        .executeTakeFirst();
      if (before === undefined || !mayTake(before, wish)) return undefined;
      await unit.sql
        .updateTable("balancer_watches")
        .set(row)
        .where("id", "=", row.id)
        .execute();
      return { had: before.owner };
    });
  }

  /** Others may take it at once. */
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

function mayTake(before: BalancerWatchRow, wish: WatchClaim): boolean {
  if (before.owner === wish.owner) return true;
  if (before.seen_at < wish.notSeenSince) return true;
  return wish.takesOver === true && before.is_moving === 0;
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
