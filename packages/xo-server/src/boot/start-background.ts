import type { Logger } from "../log/logger.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import { Adoption } from "../recovery/adoption.js";
import { endInterruptedRun } from "../balancer/interrupted-runs.js";
import { isHandedOn, Recovery, runsOf } from "../recovery/recovery.js";
import { stopOrphansOf } from "../rolling/orphans.js";
import { XapiTaskWatch } from "../tasks/xapi-task-watch.js";
import type { StartedServices } from "./start-services.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/**
 * Starts the services that act without a request: recovery of interrupted tasks,
 * jobs, the load balancer, alarms and activity.
 */
export function startBackground(
  dispatcher: Dispatcher,
  { services, previousRun, startJobs, runs, cluster }: StartedServices,
  logger: Logger,
  stops: StopStack,
): void {
  const { pools, clock, objects, users, tasks, store } = services;
  const { balancer, alarms, activity, backupMaintenance } = services;
  const { rollingRecords: records } = services;
  const recovery = new Recovery({
    dispatcher,
    pools,
    steps: previousRun.steps,
    clock,
    logger,
    connectionOf: (id) => objects.connectionOf(id),
    objects,
    users,
    watch: new XapiTaskWatch({ pools, steps: previousRun.steps, clock }),
    giveUp: async (task, error, untilReady) => {
      const [runId] = runsOf([{ task }]);
      if (runId !== undefined) await runs.interrupt({ ids: [runId] }, []);
      const orphans = { objects, clock, settings: store.settings, records };
      const ended = await stopOrphansOf(task.node, error, untilReady, orphans);
      if (!isHandedOn(error))
        await endInterruptedRun(task, untilReady, { store, objects, clock });
      return ended;
    },
  });
  stops.push("tasks under way", () => tasks.suspendAll());
  if (previousRun.interrupted.length > 0)
    logger.info(
      `interrupted tasks of the last run that continue: ${previousRun.interrupted.length}`,
    );
  void recovery.recover(previousRun.interrupted);
  void startJobs(dispatcher, runsOf(previousRun.interrupted));
  const adoption = new Adoption({
    store,
    cluster,
    tasks,
    recovery,
    runs,
    clock,
    logger,
  });
  stops.push("adoption of tasks", () => adoption.stop());
  adoption.start();
  balancer.start();
  backupMaintenance.start();
  void alarms.start();
  void activity.start();
}
