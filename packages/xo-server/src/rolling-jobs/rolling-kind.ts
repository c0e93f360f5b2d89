import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Job, JobRunStatus } from "@xo-server/store";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import { inParallel } from "../jobs/in-parallel.js";
import type { JobKind, KindRun } from "../jobs/job-kind.js";
import type { RollingBody } from "../jobs/rolling-body.js";
import type { RunOutcome } from "../jobs/run-outcome.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { RollingParts } from "../rolling/rolling-parts.js";
import { MaintenanceWindows } from "../schedules/maintenance-windows.js";
import { toFailure } from "../tasks/task-view.js";
import { toRunBody, type PoolEntry } from "./run-body.js";
import { updatePool, type PoolUpdateParts } from "./update-pool.js";

interface RollingKindParts
  extends PoolUpdateParts, Pick<RollingParts, "records"> {
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly objects: PoolObjects;
  readonly clock: WallClock;
}

const DEFAULT_CONCURRENCY = 4;
/** Key of the persisted step of a pool. */
const POOL_STEP = "pool/";

/** The persisted state of a pool of the run. JSON. */
type PoolState = { readonly entry: PoolEntry } | { readonly isBegun: true };

/** Runs of the job type `rollingUpdate`: pools in ordered groups. */
export class RollingKind implements JobKind {
  readonly #parts: RollingKindParts;

  constructor(parts: RollingKindParts) {
    this.#parts = parts;
  }

  /** Pools may be unknown, because their servers may be disconnected when the job is stored. */
  check(body: object): void {
    const { groups, windows } = body as RollingBody;
    if (windows !== undefined) new MaintenanceWindows(windows);
    const all = groups.flat();
    const twice = all.find((id, index) => all.indexOf(id) !== index);
    if (twice !== undefined)
      throw new XoError("INVALID_PARAMETERS", {
        reason: `groups: pool ${twice} is in two of them`,
      });
  }

  async plan(job: Job): Promise<object> {
    const { groups } = job.body as RollingBody;
    return { total: groups.flat().length, groups };
  }

  async run(run: KindRun): Promise<RunOutcome> {
    const { work, job, interrupted } = run;
    const { groups } = job.body as RollingBody;
    const entries: PoolEntry[] = [];
    try {
      // Waits for migrations and reboots of the previous process.
      await interrupted?.awaitOutcomes(undefined, work);
      for (const group of groups) {
        await this.#runGroup(run, group, entries);
        if (entries.some(({ status }) => status === "failure")) break;
        if (work.signal.aborted) break;
      }
      const body = toRunBody(groups, entries);
      return { status: statusOf(work.signal, entries), body };
    } catch (error) {
      const body = {
        ...toRunBody(groups, entries),
        error: toFailure(error as Error),
      };
      const status = work.signal.aborted ? "aborted" : "failure";
      return { status, body };
    }
  }

  async #runGroup(
    run: KindRun,
    group: readonly string[],
    entries: PoolEntry[],
  ): Promise<void> {
    const { concurrency = DEFAULT_CONCURRENCY } = run.job.body as RollingBody;
    const { signal } = run.work;
    await inParallel(
      group,
      { concurrency, isOver: () => signal.aborted },
      async (id) => {
        const state = run.interrupted?.steps.get(`${POOL_STEP}${id}`) as
          | PoolState
          | undefined;
        entries.push(
          state !== undefined && "entry" in state
            ? state.entry
            : await this.#runOne(run, id, state !== undefined),
        );
      },
    );
  }

  /** @param isBegun whether the previous process of the server has begun the update */
  async #runOne(
    { job, work }: KindRun,
    id: string,
    isBegun: boolean,
  ): Promise<PoolEntry> {
    const { clock, objects } = this.#parts;
    const start = clock.now();
    const keep = (state: PoolState) =>
      work.persistStep(`${POOL_STEP}${id}`, state);
    const name = nameOf(objects, id);
    let entry: PoolEntry;
    try {
      await work.part(`rolling update of ${name}`, (part) =>
        updatePool(
          {
            id,
            user: () => this.#userOf(job),
            body: job.body as RollingBody,
          },
          { isBegun, onBegin: () => keep({ isBegun: true }) },
          part,
          this.#parts,
        ),
      );
      entry = { pool: id, name, status: "success", start, end: clock.now() };
    } catch (error) {
      const failed = { error: toFailure(error as Error), end: clock.now() };
      entry = { pool: id, name, status: "failure", start, ...failed };
    }
    await keep({ entry });
    return entry;
  }

  #userOf({ userId }: Job): AuthenticatedUser {
    const user =
      userId === undefined ? undefined : this.#parts.users.get(userId);
    if (user !== undefined) return user;
    throw new XoError("FORBIDDEN", {
      reason: "the user of the job was deleted",
    });
  }
}

function nameOf(objects: Pick<PoolObjects, "find">, id: string): string {
  const name = objects.find(id)?.object["name_label"];
  return typeof name === "string" && name !== "" ? name : id;
}

function statusOf(
  signal: AbortSignal,
  entries: readonly PoolEntry[],
): JobRunStatus {
  if (signal.aborted) return "aborted";
  const failed = entries.filter(({ status }) => status === "failure").length;
  if (failed === 0) return "success";
  return failed === entries.length ? "failure" : "partial";
}
