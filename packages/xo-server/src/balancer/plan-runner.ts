import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { BalancePlan } from "@xo-server/placement";
import type { BalancerRun, Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { Tasks } from "../tasks/tasks.js";
import type { TaskContext } from "../tasks/task-context.js";
import {
  changeOf,
  executeMigration,
  type MigrationParts,
} from "./execute-migration.js";
import type { Policy } from "./policy.js";
import { PoolRun, type RunEnd, type StopReason } from "./pool-run.js";
import { recordOf } from "./stored-json.js";
import { toRecord, type RunRecord } from "./run-record.js";
import type { PoolRuns } from "./pool-runs.js";

/** What triggered a run. */
export interface RunTrigger {
  readonly cause: RunRecord["by"]["cause"];
  /** Actor for the audit log. */
  readonly user: AuthenticatedUser;
  /** The task of a manual run; absent: the run creates its own. */
  readonly work?: TaskContext;
}

interface RunRequest {
  readonly pool: string;
  readonly plan: BalancePlan;
  readonly policy: Policy;
  readonly cause: RunTrigger;
  readonly isDry: boolean;
  readonly runs: PoolRuns;
  /**
   * Why the run must stop; undefined: it may continue.
   * @param vms VMs of the run, whose own migrations are not a reason to stop
   */
  readonly stopReason: (
    vms: ReadonlySet<string>,
  ) => Promise<StopReason | undefined>;
  /**
   * Called before the first migration and after each one.
   * @throws XoError: the run must not begin
   */
  readonly onProgress: (moving: RunProgress) => Promise<void>;
}

export interface RunProgress {
  readonly run: string;
  readonly done: number;
  readonly total: number;
}

export interface RunResult {
  readonly run: BalancerRun;
  /** Set when the run failed or was stopped. */
  readonly error?: XoError;
}

interface PlanRunnerParts extends MigrationParts {
  readonly store: Pick<Store, "balancerRuns">;
  readonly tasks: Pick<Tasks, "run">;
  readonly nameOf: (id: string) => string;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** During shutdown of the server migrations in progress are left to XAPI. */
  readonly isStopping: () => boolean;
}

/**
 * Executes balance plans as tasks and records them. A dry run is only recorded.
 */
export class PlanRunner {
  readonly #parts: PlanRunnerParts;

  constructor(parts: PlanRunnerParts) {
    this.#parts = parts;
  }

  /**
   * @throws XoError STORE_UNAVAILABLE: nothing has started; errors of
   *   `onProgress`
   */
  async run(order: RunRequest): Promise<RunResult> {
    const { isDry, runs } = order;
    const record = this.#toRecord(order);
    const run = await runs.begin(record, isDry ? "dry-run" : "pending");
    if (isDry) return { run };
    const total = record.moves.length;
    try {
      if (total > 0) await order.onProgress({ run: run.id, done: 0, total });
    } catch (error) {
      await runs.end(run, record, { status: "stopped" });
      throw error;
    }
    return total === 0
      ? { run: await runs.end(run, record, { status: "success" }) }
      : this.#asTask(order, run);
  }

  #toRecord({ plan, policy, cause, isDry }: RunRequest): RunRecord {
    const { user } = cause;
    const who = { userId: user.id, userName: user.name };
    const by = { cause: cause.cause, ...who };
    const about = { by, goal: policy.goal, isDry };
    return toRecord(plan, about, this.#parts.nameOf);
  }

  async #asTask(order: RunRequest, run: BalancerRun): Promise<RunResult> {
    const { pool, cause } = order;
    let ended = run;
    const doIt = async (work: TaskContext) => {
      ended = await this.#do(order, run, work);
      const error = errorOf(ended);
      if (error !== undefined) throw error;
      return { run: run.id };
    };
    const { name, id } = {
      name: `load balancer: ${this.#parts.nameOf(pool)}`,
      id: cause.cause === "manual" ? cause.user.id : undefined,
    };
    try {
      if (cause.work?.taskId !== undefined) {
        const { lease } = cause.work;
        const result = doIt(cause.work);
        // When another server adopts the task, its migrations never end here.
        await (lease?.whileHeld(result) ?? result);
      } else {
        const task = await this.#parts.tasks.run(
          {
            name,
            objectType: "pool",
            objectId: pool,
            userId: id,
            params: { run: run.id },
          },
          doIt,
        );
        await task.result;
      }
    } catch (error) {
      if (error instanceof XoError) return { run: ended, error };
      throw error;
    }
    return { run: ended };
  }

  async #do(
    order: RunRequest,
    begun: BalancerRun,
    work: TaskContext,
  ): Promise<BalancerRun> {
    const { runs, plan, policy } = order;
    const run = await runs.noteTask(begun, work.taskId);
    const doing = this.#prepare(order, run);
    const end = await doing.run(plan.actions, policy.parallel, work);
    if (this.#parts.isStopping()) return run;
    const { nameOf, logger } = this.#parts;
    const { reason } = doing.record;
    logger.info(`load balancer: ${nameOf(order.pool)}: ${end}`, {
      run: run.id,
      ...(reason === undefined ? {} : { reason }),
    });
    const fence = work.lease?.fence;
    return runs.end(run, doing.record, { status: end, fence });
  }

  #prepare(order: RunRequest, run: BalancerRun): PoolRun {
    const { pool, stopReason, onProgress: onMoving, cause } = order;
    const { user } = cause;
    const record = recordOf(run);
    const total = record.moves.length;
    const vms = new Set(record.moves.map(({ vm }) => vm));
    return new PoolRun(run.id, record, {
      ...this.#parts,
      changeOf: (move) => changeOf(move, this.#parts.objects),
      check: () => stopReason(vms),
      move: (move, part) =>
        executeMigration(move, { pool, run: run.id, user }, part, this.#parts),
      onChange: (done) => void onMoving({ run: run.id, done, total }),
    });
  }
}

/** The task of a failed or stopped run fails too. */
function errorOf(run: BalancerRun): XoError | undefined {
  const { moves, reason } = recordOf(run);
  const end = run.status as RunEnd | "pending";
  if (end === "success" || end === "pending") return undefined;
  const done = moves.filter(({ status }) => status === "done").length;
  return new XoError("STOPPED_MIDWAY", {
    what: "the load balancer",
    reason: reason?.message ?? end,
    where: `migration ${done + 1} of ${moves.length}`,
    cause: reason,
  });
}
