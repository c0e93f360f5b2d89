import { startAlarms, type StartedAlarms } from "../alarms/start-alarms.js";
import type { Balancer } from "../balancer/balancer.js";
import { startBalancer } from "../balancer/start-balancer.js";
import { Consoles } from "../consoles/consoles.js";
import { OneTimePaths } from "../transfers/one-time-paths.js";
import { startJobs, type StartedJobs } from "../jobs/start-jobs.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import type { AuthService } from "../auth/start-auth.js";
import { Placement } from "../placement/placement.js";
import { Plugins } from "../plugins/plugins.js";
import { ResourceSets } from "../resource-sets/resource-sets.js";
import type { ServerOptions } from "./server-options.js";
import type { Ground } from "./start-ground.js";
import { startStats, type Stats } from "../stats/start-stats.js";
import type { StopStack } from "./stop-stack.js";
import { startTasks, type StartedTasks } from "../tasks/start-tasks.js";
import { TaskSubscriptions } from "../tasks/task-subscriptions.js";
import { Transfers } from "../transfers/transfers.js";
import { version } from "../config/version.js";

/** What operations are done with, and what goes on by itself. */
export interface Work extends StartedTasks, StartedJobs {
  readonly stats: Stats;
  readonly paths: OneTimePaths;
  readonly transfers: Transfers;
  readonly consoles: Consoles;
  readonly alarms: StartedAlarms;
  readonly placement: Placement;
  readonly balancer: Balancer;
  readonly plugins: Plugins;
  readonly sets: ResourceSets;
  readonly taskSubscriptions: TaskSubscriptions;
}

export interface WorkParts extends Ground {
  readonly reception: AuthService;
  readonly call: Dispatcher["call"];
  readonly isOperation: (name: string) => boolean;
}

export async function startWork(
  parts: WorkParts,
  options: ServerOptions,
  stops: StopStack,
): Promise<Work> {
  const { clock, store, audit, inventory, objects, pools } = parts;
  const { poolObjects, reception, hits } = parts;
  const { config, loggers } = options;
  const { catalog } = objects;
  const logger = loggers.named("xo:api");
  const shared = { clock, logger, stops };
  const paths = new OneTimePaths({ clock });
  stops.push("downloads", () => {
    paths.stop();
  });
  const started = await startTasks(store, config.dataDir, shared);
  const { tasks } = started;
  const taskSubscriptions = new TaskSubscriptions({ tasks, clock });
  stops.push("clients of tasks", () => {
    taskSubscriptions.stop();
  });
  const stats = startStats(parts.parser, parts, options, stops);
  const consoles = new Consoles({
    config: config.consoles,
    inventory,
    pools,
    audit,
    hits,
    clock,
    findObject: (id) => catalog.get(id),
    sessions: reception.sessions,
  });
  const transfers = new Transfers({
    paths,
    audit,
    tasks,
    clock,
    caughtUp: async (id) => {
      const pool = catalog.get(id)?.pool;
      if (pool !== undefined) await parts.catchUp.with([pool]);
    },
  });
  const placement = new Placement({
    inventory,
    store,
    clock,
    poolObjects,
    queries: objects.queries,
  });
  stops.push("placement", () => placement.stop());
  const balancer = startBalancer({
    ...shared,
    store,
    tasks,
    stats,
    placement,
    catalog,
    inventory,
    objects: poolObjects,
    pools,
    audit,
    config,
    witness: parts.activity.activity,
  });
  const plugins = new Plugins({ store, version, logger });
  plugins.start();
  const jobs = startJobs({
    ...shared,
    store,
    tasks,
    pools,
    catalog,
    config,
    people: reception.users,
    objects: poolObjects,
    call: parts.call,
    isOperation: parts.isOperation,
  });
  const listPools = () => pools.list();
  const alarms = startAlarms({ store, objects, listPools }, options, stops);
  const sets = new ResourceSets({ ...objects, store, clock });
  return {
    ...started,
    ...jobs,
    paths,
    stats,
    consoles,
    transfers,
    placement,
    balancer,
    plugins,
    alarms,
    sets,
    taskSubscriptions,
  };
}
