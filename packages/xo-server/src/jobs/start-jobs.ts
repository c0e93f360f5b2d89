import type { WallClock } from "@xo-server/kit";
import type { Catalog } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Job, Store } from "@xo-server/store";
import type { Contention } from "../cluster/contention.js";
import type { Cluster } from "../cluster/start-cluster.js";
import type { Config } from "../config/config.js";
import type { Logger } from "../log/logger.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { Pools } from "../pools/pools.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Tasks } from "../tasks/tasks.js";
import type { JobKinds } from "./job-kind.js";
import { JobRunner } from "./job-runner.js";
import { Jobs } from "./jobs.js";
import { pausedReason } from "./paused-pools.js";
import { poolsReady } from "./pools-ready.js";
import { Runs } from "./runs.js";
import { Scheduler } from "./scheduler.js";

interface StartJobsParts {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly users: AuthenticatedUsers;
  readonly catalog: Catalog;
  readonly objects: PoolObjects;
  readonly pools: Pick<Pools, "listSummaries">;
  readonly cluster: Pick<Cluster, "self" | "leases">;
  readonly config: Pick<Config, "jobs">;
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly stops: StopStack;
  /** Job types other than calls and snapshots. */
  readonly kinds: JobKinds;
}

export interface StartedJobs {
  readonly jobs: Jobs;
  readonly runs: Pick<Runs, "abandon" | "interrupt" | "interruptDropped">;
  /**
   * Starts scheduled and requested runs.
   * @param resumed ids of runs of the previous process that will be resumed
   */
  readonly start: (
    dispatcher: Dispatcher,
    resumed: readonly string[],
  ) => Promise<void>;
}

/** Subject of the lease on the schedules of all jobs. */
const JOBS = "jobs";

/**
 * Creates the job service. No run starts before `start` is called with the
 * dispatcher.
 */
export function startJobs(parts: StartJobsParts): StartedJobs {
  const { store, tasks, cluster, config, clock, logger, stops } = parts;
  const { maxRunsPerJob: ofJob, maxRuns: ofAll } = config.jobs;
  const { owner } = cluster.self;
  const isStopping = (): boolean => runs.isStopping;
  let dispatcher: Dispatcher | undefined;
  const runner = new JobRunner({
    ...parts,
    isStopping,
    call: async (...call) => {
      if (dispatcher === undefined)
        throw new XoError("INTERNAL", { reason: "jobs have not been started" });
      return dispatcher.call(...call);
    },
  });
  const runs = new Runs({
    store,
    runner,
    tasks,
    owner,
    clock,
    logger,
    keep: { ofJob, ofAll },
  });
  const jobs = new Jobs({
    store,
    runs,
    runner,
    clock,
    isUser: (id) => parts.users.get(id) !== undefined,
    isOperation: (name) => dispatcher?.find(name) !== undefined,
    // Users who may cancel a run may also abort its task.
    abortTask: (id) => tasks.abort(id, { id: "", isAdmin: true }),
  });
  let scheduling: Contention | undefined;
  stops.push("jobs", async () => {
    await scheduling?.stop();
    await runs.stop();
  });
  return {
    jobs,
    runs,
    async start(started, resumed) {
      dispatcher = started;
      await runs.abandon({ owner }, resumed);
      // Missed runs need the objects of all pools.
      await poolsReady(parts.pools, clock, isStopping);
      if (isStopping()) return;
      const { settings } = store;
      const plan = (job: Job) => runner.plan(job);
      let scheduler: Scheduler | undefined;
      // Of several servers, the one with the lease starts the runs that are due.
      scheduling = cluster.leases.compete(JOBS, {
        onHeld(lease) {
          scheduler = new Scheduler({
            store,
            runs,
            lease,
            clock,
            logger,
            pausedReason: (job) =>
              pausedReason(job, { settings, objects: parts.objects, plan }),
          });
          scheduler.wake();
        },
        onLost() {
          void scheduler?.stop();
        },
      });
    },
  };
}
