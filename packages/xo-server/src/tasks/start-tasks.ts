import type { WallClock } from "@xo-server/kit";
import type { Store } from "@xo-server/store";
import type { Logger } from "../log/logger.js";
import type { Cluster } from "../cluster/start-cluster.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { StepJournal } from "./step-journal.js";
import { Tasks, type PendingTask } from "./tasks.js";

/** Time after which ended tasks are deleted, in ms: two weeks. */
const KEPT_MS = 14 * 24 * 3600 * 1000;
/** Younger steps are kept, because their task may be about to be written, in ms. */
const STEPS_KEPT_MS = 24 * 3600 * 1000;
/** Interval of the deletion of old tasks and steps, in ms. */
const SWEEP_MS = 3600 * 1000;

interface StartTasksParts {
  readonly clock: WallClock;
  readonly logger: Logger;
  readonly stops: StopStack;
  /** Whether an operation has a `resume`. */
  readonly canResume: (operation: string) => boolean;
}

export interface StartedTasks {
  readonly tasks: Tasks;
  readonly steps: StepJournal;
  /** Interrupted tasks of the previous run, see Recovery. */
  readonly interrupted: readonly PendingTask[];
}

/** Loads the tasks that an earlier run has left, and deletes old ones now and regularly. */
export async function startTasks(
  store: Store,
  { self, serverLease }: Pick<Cluster, "self" | "serverLease">,
  { clock, logger, stops, canResume }: StartTasksParts,
): Promise<StartedTasks> {
  const { owner } = self;
  const sweep = async () => {
    try {
      await store.tasks.deleteEndedBefore(clock.now() - KEPT_MS);
      await store.taskSteps.deleteLeftBefore(clock.now() - STEPS_KEPT_MS);
    } catch (error) {
      logger.warn("old tasks could not be deleted", { error });
    }
  };
  await sweep();
  const isShared = store.engine === "postgres";
  const steps = new StepJournal({
    store: store.taskSteps,
    seals: store.seals,
    clock,
    logger,
  });
  const tasks = new Tasks({
    store: store.tasks,
    steps,
    owner,
    isShared,
    canResume,
    ...(isShared ? { lease: serverLease } : {}),
    clock,
    logger,
  });
  let timer: unknown;
  const sweepLater = () => {
    timer = clock.setTimeout(() => {
      void sweep();
      sweepLater();
    }, SWEEP_MS);
  };
  sweepLater();
  stops.push("tasks", () => {
    clock.clearTimeout(timer);
    tasks.stop();
  });
  return { tasks, steps, interrupted: await loadInterrupted(tasks, logger) };
}

async function loadInterrupted(
  tasks: Tasks,
  logger: Logger,
): Promise<readonly PendingTask[]> {
  try {
    return await tasks.loadInterrupted();
  } catch (error) {
    logger.warn("interrupted tasks of the previous run could not be read", {
      error,
    });
    return [];
  }
}
