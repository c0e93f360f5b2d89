import type { WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { Logger } from "../log/logger.js";
import { onBehalfOf } from "../operations/on-behalf.js";
import type {
  Dispatcher,
  InterruptedCall,
  Operation,
} from "../operations/operation.js";
import type { AuthenticatedUser } from "../auth/users/authenticated-user.js";
import type { AuthenticatedUsers } from "../auth/users/authenticated-users.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Pools } from "../pools/pools.js";
import {
  outcomeOfCall,
  reportInterruption,
} from "../tasks/interruption-report.js";
import type { XapiTaskWatch } from "../tasks/xapi-task-watch.js";
import { pause } from "../tasks/pause.js";
import { InterruptedXapiTasks } from "../tasks/interrupted-task.js";
import type { RunningTask } from "../tasks/running-task.js";
import type { StepJournal } from "../tasks/step-journal.js";
import type { PendingTask } from "../tasks/tasks.js";

interface RecoveryOptions {
  readonly dispatcher: Pick<Dispatcher, "find" | "resume">;
  /** Returns the id of the connection of an object's pool. */
  readonly connectionOf: (id: string) => string | undefined;
  readonly users: Pick<AuthenticatedUsers, "get">;
  readonly pools: Pick<Pools, "listSummaries">;
  readonly watch: XapiTaskWatch;
  readonly steps: Pick<StepJournal, "read">;
  /**
   * Cleans up what a task has begun that failed or is not resumed.
   * @param untilReady resolves when its pools are connected and its XAPI tasks have
   * ended
   * @returns the error for clients; undefined: the original error
   */
  readonly giveUp?: (
    task: RunningTask,
    error: Error,
    untilReady: () => Promise<unknown>,
  ) => Promise<Error | undefined>;
  /** For what abandoned tasks have created. */
  readonly objects: Pick<PoolObjects, "forTask">;
  readonly clock: WallClock;
  readonly logger: Pick<Logger, "info" | "warn">;
}

/** Interval of the checks whether the pools are connected, in ms. */
const POLL_MS = 200;
/** Time after which an unknown object counts as deleted, in ms. */
const OBJECT_MS = 60_000;

/** Time after which a task is abandoned whose steps cannot be read, in ms. */
const STEPS_MS = 60_000;

/** A task of the previous run, with everything that is known about it. */
interface LostTask {
  readonly task: RunningTask;
  /** False: its steps could not be read. */
  readonly isKnown: boolean;
  readonly xapiTasks: InterruptedXapiTasks;
  readonly operation: Operation | undefined;
  readonly user: AuthenticatedUser | undefined;
}

/** Resumes or ends the tasks of the previous run of the server. */
export class Recovery {
  readonly #options: RecoveryOptions;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /** Resolves when all tasks have ended. Never rejects. */
  async recover(interrupted: readonly PendingTask[]): Promise<void> {
    if (interrupted.length === 0) return;
    const { watch } = this.#options;
    const all = await Promise.all(
      interrupted.map(async ({ task, end }) => ({
        task,
        end,
        lost: await this.#lookUp(task),
      })),
    );
    // All are registered before the first search, so that no XAPI task is mistaken
    // for that of another task.
    for (const { lost } of all)
      watch.addKnown(lost.xapiTasks.xapiTasks.values());
    await Promise.all(
      all.map(async ({ end, lost }) => {
        end(await this.#outcome(lost));
      }),
    );
  }

  async #lookUp(task: RunningTask): Promise<LostTask> {
    const { watch, dispatcher, users } = this.#options;
    const { operation, userId } = task.subject;
    const steps = await this.#readSteps(task);
    return {
      task,
      isKnown: steps !== undefined,
      xapiTasks: new InterruptedXapiTasks(task.node, steps ?? new Map(), watch),
      operation:
        operation === undefined ? undefined : dispatcher.find(operation),
      user: userId === undefined ? undefined : users.get(userId),
    };
  }

  /** @returns undefined: they cannot be read */
  async #readSteps({
    id,
    node: work,
  }: RunningTask): Promise<ReadonlyMap<string, unknown> | undefined> {
    const { steps, clock, logger } = this.#options;
    const until = clock.now() + STEPS_MS;
    for (;;)
      try {
        return await steps.read(id);
      } catch (error) {
        if (clock.now() >= until || work.signal.aborted) {
          logger.warn(`the steps of task ${id} could not be read`, { error });
          return undefined;
        }
        await pause(clock, POLL_MS, work.signal);
      }
  }

  /** @returns a function that sets the status of the task */
  async #outcome(lost: LostTask): Promise<() => void> {
    const { node: work } = lost.task;
    try {
      const result = await this.#continue(lost);
      return () => {
        work.interruptParts();
        work.succeed(result);
      };
    } catch (cause) {
      const error = await this.#giveUp(lost, cause as Error);
      return () => {
        if (error instanceof XoError && error.code === "INTERRUPTED")
          work.interrupt(error);
        else {
          work.interruptParts();
          work.fail(error);
        }
      };
    }
  }

  /** @returns the error for clients */
  async #giveUp(lost: LostTask, error: Error): Promise<Error> {
    const { task, xapiTasks } = lost;
    const { giveUp, logger } = this.#options;
    const untilReady = async () => {
      await xapiTasks.awaitOutcomes();
      await this.#untilPoolConnected(task);
    };
    try {
      if (!isHandedOn(error)) await this.#abandon(lost);
      return (await giveUp?.(task, error, untilReady)) ?? error;
    } catch (cause) {
      logger.warn(`unfinished work of task ${task.id} could not be ended`, {
        cause,
      });
      return error;
    }
  }

  /** Never rejects. */
  async #abandon({ task, operation, xapiTasks }: LostTask): Promise<void> {
    const { objects, logger } = this.#options;
    const { node, persistedState: state } = task;
    if (operation?.resume === undefined || state === undefined) return;
    const { abandon, resumesAtOnce = false } = operation;
    try {
      // Otherwise nobody ends the XAPI task of a transfer, and others may create what is to be deleted.
      if (!resumesAtOnce) await xapiTasks.awaitOutcomes();
      if (abandon === undefined) return;
      await this.#untilPoolConnected(task);
      await abandon(state as never, {
        objects: objects.forTask(node).untracked,
        task: node,
        interrupted: xapiTasks,
      });
    } catch (error) {
      const { message } = error as Error;
      node.warn(`what the task has created may be left: ${message}`);
      logger.warn(`what task ${task.id} has created may be left`, { error });
    }
  }

  async #continue(lost: LostTask): Promise<unknown> {
    const { task, isKnown, operation, user } = lost;
    // A resumed task could repeat what it has already done.
    if (!isKnown)
      throw new XoError("INTERRUPTED", {
        reason: "its steps could not be read",
      });
    if (operation?.resume !== undefined && task.persistedState !== undefined)
      return this.#resume(lost, operation);
    const run = () => awaitXapiTasks(lost);
    if (operation?.changes !== true || user === undefined) return run();
    // XAPI tasks that have run cannot be undone, so the rights of the caller do not matter.
    const begun = { ...callOf(lost, operation), run, isOnlyReport: true };
    return this.#options.dispatcher.resume(begun, onBehalfOf(user, task.node));
  }

  /** @throws XoError FORBIDDEN_OPERATION: the user was deleted */
  async #resume(lost: LostTask, operation: Operation): Promise<unknown> {
    const { task, xapiTasks, user } = lost;
    const { resume, resumesAtOnce = false } = operation;
    if (user === undefined)
      throw new XoError("FORBIDDEN_OPERATION", {
        operation: `go on with ${operation.name} after a restart`,
        reason: "its user was deleted",
      });
    if (resumesAtOnce) task.node.dropPendingParts();
    else await xapiTasks.awaitOutcomes();
    await this.#untilPoolConnected(task);
    const run: InterruptedCall["run"] = async (context) =>
      resume!(task.persistedState as never, context, xapiTasks);
    return this.#options.dispatcher.resume(
      { ...callOf(lost, operation), run },
      onBehalfOf(user, task.node),
    );
  }

  /**
   * Resolves when the pool of the task's object is connected; without an
   * object, when all reachable pools are.
   */
  async #untilPoolConnected({
    subject,
    node: work,
  }: RunningTask): Promise<void> {
    const { clock } = this.#options;
    const deadline = clock.now() + OBJECT_MS;
    while (!work.signal.aborted && clock.now() < deadline) {
      if (this.#isPoolConnected(subject.objectId)) return;
      await pause(clock, POLL_MS, work.signal);
    }
  }

  #isPoolConnected(objectId: string): boolean {
    const { connectionOf, pools } = this.#options;
    const pool = connectionOf(objectId);
    const states = pools
      .listSummaries()
      .filter(({ id }) => pool === undefined || id === pool)
      .map(({ state }) => state);
    const isOwn = pool !== undefined && states.length > 0;
    return states.every(
      (state) => state === "watching" || (!isOwn && state === "failed"),
    );
  }
}

/** Whether the next start of the server, or another one, continues the task. */
export function isHandedOn(error: Error): boolean {
  return (
    error instanceof XoError &&
    (error.code === "CLOSED" || error.code === "TASK_TAKEN_OVER")
  );
}

/** Ids of job runs whose tasks have persisted a state: they are resumed. */
export function runsOf(
  interrupted: readonly Pick<PendingTask, "task">[],
): readonly string[] {
  return interrupted.flatMap(({ task }) => {
    const { runId } = (task.persistedState ?? {}) as { runId?: unknown };
    return typeof runId === "string" ? [runId] : [];
  });
}

/** The object of the permission may be another one than that of the task, as in a restore onto an SR that was requested for an archive. */
function callOf(
  { task }: LostTask,
  { name, permission }: Operation,
): Omit<InterruptedCall, "run"> {
  const { objectId, params } = task.subject;
  const own: unknown =
    typeof permission === "string" ? undefined : permission.id(params as never);
  return { name, objectId: typeof own === "string" ? own : objectId, params };
}

/**
 * Waits for the XAPI tasks of a task that is not resumed.
 * @throws XoError INTERRUPTED with what was done; if the operation is a single
 * call, the error of that call
 */
async function awaitXapiTasks({
  task,
  xapiTasks,
  operation,
}: LostTask): Promise<unknown> {
  const ended = await xapiTasks.awaitOutcomes();
  if (operation?.isOneCall?.(task.subject.params as never) === true) {
    const outcome = outcomeOfCall(ended, operation.callMethods);
    if (outcome?.name === "success") return true;
    if (outcome?.name === "failure") throw outcome.error;
  }
  if (task.isAborted) throw new XoError("ABORTED", { what: task.subject.name });
  throw new XoError("INTERRUPTED", { reason: reportInterruption(ended) });
}
