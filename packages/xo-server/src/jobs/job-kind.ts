import type { Job } from "@xo-server/store";
import type { InterruptedTask } from "../tasks/interrupted-task.js";
import type { TaskContext } from "../tasks/task-context.js";
import type { RunOutcome } from "./run-outcome.js";

/** A run of a job, as it is passed to the code of the job type. */
export interface KindRun {
  readonly job: Job;
  readonly runId: string;
  /** The schedule that has started the run. */
  readonly scheduleId?: string | undefined;
  /** Overrides of the job's settings for one run; not used by scheduled runs. */
  readonly choice?: RunChoice | undefined;
  readonly work: TaskContext;
  /** The steps that the same run persisted before the server stopped. */
  readonly interrupted?: InterruptedTask | undefined;
}

export interface RunChoice {
  /** Ids; only these VMs of the job are processed. */
  readonly vms?: readonly string[];
  /** Replaces the body of the job. */
  readonly body?: object;
}

/**
 * The behaviour of a job type other than calls and snapshots. Its runs persist
 * steps, and continue after a restart of the server.
 */
export interface JobKind {
  /**
   * @throws XoError INVALID_PARAMETERS; NO_SUCH_OBJECT: the body refers to an
   * object that does not exist
   */
  check(body: object): void;
  /** Never rejects: errors are part of the outcome. */
  run(run: KindRun): Promise<RunOutcome>;
  /** Returns what a run would do now. @throws XoError */
  plan(job: Job): Promise<object>;
}

/** Job types by name. */
export type JobKinds = ReadonlyMap<string, JobKind>;
