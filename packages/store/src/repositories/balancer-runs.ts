import { checkName, checkPageRows, toJson } from "../schema/limits.js";
import type { BalancerRunRow } from "../schema/tables.js";
import { checkFence, type Fence } from "./leases.js";
import { whereOlder } from "./page-cursor.js";
import type { RepositoryContext } from "./repository-context.js";

/** pending: migrations are running. interrupted: the server stopped before the run ended. */
export type BalancerRunStatus =
  | "pending"
  | "success"
  | "failure"
  | "stopped"
  | "interrupted"
  | "dry-run";

/** One run of the load balancer on a pool, real or dry. */
export interface BalancerRun {
  readonly id: string;
  readonly pool: string;
  /** The server that ran the balancer. */
  readonly owner: string;
  readonly status: BalancerRunStatus;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly taskId?: string;
  /** JSON. */
  readonly body: unknown;
}

export type NewBalancerRun = Pick<
  BalancerRun,
  "pool" | "owner" | "status" | "body"
>;

export interface BalancerRunPageOptions {
  readonly pool: string;
  /** Rows, 1 to 1,000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

export interface BalancerRunPage {
  /** Newest first. */
  readonly runs: readonly BalancerRun[];
  /** Cursor of the next page; absent on the last page. */
  readonly cursor?: string;
}

/** Runs of the load balancer, in the database only. All methods throw XoError STORE_UNAVAILABLE while the database is unreachable. */
export class BalancerRuns {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /** @throws XoError VALUE_TOO_LARGE, INVALID_PARAMETERS */
  async begin(run: NewBalancerRun): Promise<BalancerRun> {
    const { committer, clock, createId } = this.#context;
    const now = clock.now();
    const row: BalancerRunRow = {
      id: createId(),
      pool_id: checkName("the pool", run.pool),
      owner: checkName("the owner", run.owner),
      status: run.status,
      started_at: now,
      ended_at: run.status === "pending" ? null : now,
      task_id: null,
      body_json: toJson("the run", run.body),
    };
    await committer.run((unit) =>
      unit.sql.insertInto("balancer_runs").values(row).execute(),
    );
    return toRun(row);
  }

  /**
   * Updates progress or outcome; absent members do not change.
   * @param fence of the lease on the task of the run
   * @throws XoError VALUE_TOO_LARGE; LEASE_LOST: another server continues the task
   */
  async write(
    id: string,
    change: Partial<
      Pick<BalancerRun, "status" | "endedAt" | "taskId" | "body">
    >,
    fence?: Fence,
  ): Promise<void> {
    const { status, endedAt, taskId, body } = change;
    const columns = {
      ...(status === undefined ? {} : { status }),
      ...(endedAt === undefined ? {} : { ended_at: endedAt }),
      ...(taskId === undefined ? {} : { task_id: taskId }),
      ...(body === undefined ? {} : { body_json: toJson("the run", body) }),
    };
    await this.#context.committer.run(async (unit) => {
      await checkFence(unit, fence);
      await unit.sql
        .updateTable("balancer_runs")
        .set(columns)
        .where("id", "=", id)
        .execute();
    });
  }

  /** Marks the pending runs of a pool as interrupted. @returns their number */
  async interrupt(pool: string): Promise<number> {
    const { committer, clock } = this.#context;
    const rows = await committer.run((unit) =>
      unit.sql
        .updateTable("balancer_runs")
        .set({ status: "interrupted", ended_at: clock.now() })
        .where("pool_id", "=", pool)
        .where("status", "=", "pending")
        .returning("id")
        .execute(),
    );
    return rows.length;
  }

  /** @throws XoError INVALID_PARAMETERS */
  async list(options: BalancerRunPageOptions): Promise<BalancerRunPage> {
    const { engine, availability } = this.#context;
    const limit = checkPageRows(options.limit);
    let query = engine.reader
      .selectFrom("balancer_runs")
      .selectAll()
      .where("pool_id", "=", options.pool)
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(limit);
    const older = whereOlder(options.cursor);
    if (older !== undefined) query = query.where(older);
    const rows = await availability.run(() => query.execute());
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return {
      runs: rows.map(toRun),
      ...(last && { cursor: `${last.started_at}/${last.id}` }),
    };
  }

  /** Deletes ended runs of a pool that started before a time. @returns number of deleted rows */
  async prune(pool: string, before: number): Promise<number> {
    const rows = await this.#context.committer.run((unit) =>
      unit.sql
        .deleteFrom("balancer_runs")
        .where("pool_id", "=", pool)
        .where("status", "!=", "pending")
        .where("started_at", "<", before)
        .returning("id")
        .execute(),
    );
    return rows.length;
  }
}

function toRun(row: BalancerRunRow): BalancerRun {
  return {
    id: row.id,
    pool: row.pool_id,
    owner: row.owner,
    status: row.status as BalancerRunStatus,
    startedAt: row.started_at,
    ...(row.ended_at === null ? {} : { endedAt: row.ended_at }),
    ...(row.task_id === null ? {} : { taskId: row.task_id }),
    body: JSON.parse(row.body_json) as unknown,
  };
}
