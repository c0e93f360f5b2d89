import { BulkRuns } from "../bulk/bulk-runs.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { operations } from "../methods/all.js";
import type { Services } from "../methods/definition/services.js";
import { CatchUp } from "../objects/catch-up.js";
import { startTasks, type StartedTasks } from "../tasks/start-tasks.js";
import { TaskSubscriptions } from "../tasks/task-subscriptions.js";
import { OneTimePaths } from "../transfers/one-time-paths.js";
import { RemoteFiles } from "../transfers/remote-files.js";
import { Transfers } from "../transfers/transfers.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

export interface TaskServices {
  readonly work: Pick<
    Services,
    | "tasks"
    | "bulkRuns"
    | "taskSubscriptions"
    | "transfers"
    | "remoteFiles"
    | "oneTimePaths"
  >;
  readonly catchUp: CatchUp;
  /** Tasks of the previous run, with the steps that they have persisted. */
  readonly previousRun: Pick<StartedTasks, "interrupted" | "steps">;
}

/** Starts tasks and transfers of files. */
export async function startTaskServices(
  { clock, store, cluster, audit, inventory, objects, views }: Core,
  { config, loggers }: ServerOptions,
  stops: StopStack,
): Promise<TaskServices> {
  const logger = loggers.named("xo:api");
  const oneTimePaths = new OneTimePaths({ clock });
  stops.push("one-time paths", () => {
    oneTimePaths.stop();
  });
  const resumable = new Set(
    operations
      .filter(({ resume }) => resume !== undefined)
      .map(({ name }) => name),
  );
  const { tasks, steps, interrupted } = await startTasks(store, cluster, {
    clock,
    logger,
    stops,
    canResume: (name) => resumable.has(name),
  });
  const taskSubscriptions = new TaskSubscriptions({ tasks, clock });
  stops.push("task subscriptions", () => {
    taskSubscriptions.stop();
  });
  const { catalog } = views;
  const catchUp = new CatchUp({ inventory, catalog, clock, logger });
  const transfers = new Transfers({
    paths: oneTimePaths,
    audit,
    tasks,
    clock,
    caughtUp: async (id) => {
      const pool = objects.connectionOf(id);
      if (pool !== undefined) await catchUp.with([pool]);
    },
  });
  return {
    work: {
      tasks,
      bulkRuns: new BulkRuns(),
      taskSubscriptions,
      transfers,
      remoteFiles: new RemoteFiles(config.imports),
      oneTimePaths,
    },
    catchUp,
    previousRun: { steps, interrupted },
  };
}
