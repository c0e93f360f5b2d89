import type { Logger } from "../log/logger.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import { Recovery } from "../recovery/recovery.js";
import { XapiTaskWatch } from "../tasks/xapi-task-watch.js";
import type { StartedServices } from "./start-services.js";
import type { StopStack } from "../lifecycle/stop-stack.js";

/** Starts what acts without a client: recovery of interrupted tasks, jobs, the load balancer, alarms and activity. */
export function startBackground(
  dispatcher: Dispatcher,
  { services, previousRun, startJobs }: StartedServices,
  logger: Logger,
  stops: StopStack,
): void {
  const { pools, clock, objects, users, tasks } = services;
  const { balancer, alarms, activity, backupMaintenance } = services;
  const recovery = new Recovery({
    dispatcher,
    pools,
    steps: previousRun.steps,
    clock,
    logger,
    connectionOf: (id) => objects.connectionOf(id),
    people: users,
    watch: new XapiTaskWatch({ pools, clock }),
  });
  stops.push("tasks under way", () => tasks.suspendAll());
  void recovery.recover(previousRun.interrupted);
  void startJobs(dispatcher, resumedRuns(previousRun));
  balancer.start();
  backupMaintenance.start();
  void alarms.start();
  void activity.start();
}

/** Ids of job runs whose tasks persisted a state: they are resumed. */
function resumedRuns({
  interrupted,
}: StartedServices["previousRun"]): readonly string[] {
  return interrupted.flatMap(({ task }) => {
    const { runId } = (task.persistedState ?? {}) as { runId?: unknown };
    return typeof runId === "string" ? [runId] : [];
  });
}
