import type { TaskRow } from "../schema/tables.js";
import { databaseNow } from "../engines/database-clock.js";
import { checkFence, type Fence } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";
import { toTask, type Task } from "./tasks.js";

/** The tasks and runs that a server has taken over from another one. */
export interface Adopted {
  /** Pending. */
  readonly tasks: readonly Task[];
  /** Ids of pending runs of jobs. */
  readonly runs: readonly string[];
}

/** Ids of the pending tasks and runs of jobs of a server. */
export interface Adoptable {
  readonly tasks: readonly string[];
  readonly runs: readonly string[];
}

/** The takeover of what servers have left that do not run any more. */
export class Adoptions {
  readonly #context: RepositoryContext;

  constructor(context: RepositoryContext) {
    this.#context = context;
  }

  /**
   * Owners of pending tasks, runs of jobs and entries of the audit log, other than
   * this server, whose lease on `server/<name>` has expired or does not exist.
   * @throws XoError STORE_UNAVAILABLE
   */
  async listOrphanOwners(name: string): Promise<string[]> {
    const { engine, availability } = this.#context;
    const { reader } = engine;
    const [tasks, runs, entries, leases] = await availability.run(() =>
      Promise.all([
        reader
          .selectFrom("tasks")
          .select("owner")
          .distinct()
          .where("status", "=", "pending")
          .where("owner", "!=", name)
          .execute(),
        reader
          .selectFrom("job_runs")
          .select("owner")
          .distinct()
          .where("status", "=", "pending")
          .where("owner", "!=", name)
          .execute(),
        reader
          .selectFrom("audit_pending")
          .select("owner")
          .distinct()
          .where("owner", "!=", name)
          .execute(),
        reader
          .selectFrom("leases")
          .select("id")
          .where("id", ">=", "server/")
          .where("id", "<", "server0")
          .where("expires_at", ">", databaseNow(engine))
          .execute(),
      ]),
    );
    const held = new Set(leases.map(({ id }) => id));
    const owners = [...tasks, ...runs, ...entries].map(({ owner }) => owner);
    return [...new Set(owners)].filter((owner) => !held.has(`server/${owner}`));
  }

  /** What `adopt` would take over now. @throws XoError STORE_UNAVAILABLE */
  async listPending(owner: string): Promise<Adoptable> {
    const { engine, availability } = this.#context;
    const [tasks, runs] = await availability.run(() =>
      Promise.all(
        (["tasks", "job_runs"] as const).map((table) =>
          engine.reader
            .selectFrom(table)
            .select("id")
            .where("owner", "=", owner)
            .where("status", "=", "pending")
            .execute(),
        ),
      ),
    );
    return {
      tasks: tasks!.map(({ id }) => id),
      runs: runs!.map(({ id }) => id),
    };
  }

  /**
   * Makes another server the owner of the pending tasks and runs of a server, in
   * one transaction. What it has published about its load balancers is deleted.
   * @param fences leases on the tasks of both servers
   * @throws XoError LEASE_LOST, STORE_UNAVAILABLE
   */
  async adopt(
    from: string,
    to: string,
    fences: readonly Fence[],
  ): Promise<Adopted> {
    return this.#context.committer.run(async (unit) => {
      for (const fence of fences) await checkFence(unit, fence);
      const tasks: TaskRow[] = await unit.sql
        .updateTable("tasks")
        .set({ owner: to })
        .where("owner", "=", from)
        .where("status", "=", "pending")
        .returningAll()
        .execute();
      const runs = await unit.sql
        .updateTable("job_runs")
        .set({ owner: to })
        .where("owner", "=", from)
        .where("status", "=", "pending")
        .returning("id")
        .execute();
      // A pool whose load balancer is off is not published again by another server.
      await unit.sql
        .deleteFrom("balancer_watches")
        .where("owner", "=", from)
        .execute();
      return { tasks: tasks.map(toTask), runs: runs.map(({ id }) => id) };
    });
  }
}
