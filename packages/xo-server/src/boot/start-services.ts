import { startActivity } from "../activity/start-activity.js";
import { startAlarms } from "../alarms/start-alarms.js";
import { OneTimePaths } from "../transfers/one-time-paths.js";
import { startAuth } from "../auth/start-auth.js";
import { TotpEnrollments } from "../auth/totp-enrollments.js";
import { startBalancer } from "../balancer/start-balancer.js";
import { version } from "../config/version.js";
import { Consoles } from "../consoles/consoles.js";
import { Dashboards } from "../dashboard/dashboards.js";
import { createDashboardCache } from "../dashboard/remembered.js";
import { MissingPatches } from "../hosts/missing-patches.js";
import { RollingPlans } from "../hosts/rolling-plans.js";
import { startJobs, type StartedJobs } from "../jobs/start-jobs.js";
import type { Services } from "../methods/services.js";
import { CatchUp } from "../objects/catch-up.js";
import { EvacuationPlanner } from "../placement/evacuations.js";
import { PlacementService } from "../placement/placement-service.js";
import { StartHostSelector } from "../placement/start-host-selector.js";
import { Plugins } from "../plugins/plugins.js";
import { HostProber } from "../pools/host-prober.js";
import { PoolDoors } from "../pools/pool-doors.js";
import { ResourceSets } from "../resource-sets/resource-sets.js";
import { startStats, type Stats } from "../stats/start-stats.js";
import { startPerformance } from "../status/performance.js";
import { startStatus, startStatusFeed } from "../status/start-status.js";
import { startTasks, type StartedTasks } from "../tasks/start-tasks.js";
import { TaskSubscriptions } from "../tasks/task-subscriptions.js";
import { Transfers } from "../transfers/transfers.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";
import type { StopStack } from "./stop-stack.js";

export interface StartedServices {
  /** What operations work with. */
  readonly services: Services;
  readonly consoles: Consoles;
  readonly catchUp: CatchUp;
  readonly stats: Stats;
  /** Tasks of the previous run, and the steps that they persisted. */
  readonly previousRun: Pick<StartedTasks, "interrupted" | "steps">;
  readonly startJobs: StartedJobs["start"];
}

/** Everything that operations work with. What acts by itself (jobs, balancer, alarms, activity) is started later: see start-background. */
export async function startServices(
  core: Core,
  options: ServerOptions,
  stops: StopStack,
): Promise<StartedServices> {
  const { clock, store, audit, inventory, objects, pools, views } = core;
  const { storedPools, demoPools, parser, monitor, clients, limitHits } = core;
  const { catalog, queries, readers: liveReaders, notices } = views;
  const { config, loggers } = options;
  const logger = loggers.named("xo:api");
  const shared = { clock, logger, stops };
  const listPools = () => pools.list();

  const { activity, listeners: activityListeners } = startActivity(
    inventory,
    views,
    options,
    stops,
  );
  const auth = await startAuth(store, options, stops);
  const { users, signIn, sessions, tickets } = auth;
  const consoles = new Consoles({
    config: config.consoles,
    inventory,
    pools,
    audit,
    hits: limitHits,
    clock,
    findObject: (id) => objects.find(id),
    sessions,
  });
  sessions.onRights((client) => {
    liveReaders.renew(client);
    notices.renew(client);
    consoles.renew(client);
  });

  const readStatus = startStatus({
    ...options,
    pools,
    monitor,
    clients,
    clock,
    stops,
    readParser: () => parser.readFigures(),
  });
  const performance = startPerformance({
    monitor,
    parser,
    readStatus,
    clock,
    stops,
  });
  const statusFeed = startStatusFeed(readStatus, options, stops);

  const oneTimePaths = new OneTimePaths({ clock });
  stops.push("one-time paths", () => {
    oneTimePaths.stop();
  });
  const { tasks, steps, interrupted } = await startTasks(
    store,
    config.dataDir,
    shared,
  );
  const taskSubscriptions = new TaskSubscriptions({ tasks, clock });
  stops.push("task subscriptions", () => {
    taskSubscriptions.stop();
  });
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

  const stats = startStats(
    parser,
    { inventory, objects: views, poolObjects: objects, pools },
    options,
    stops,
  );
  const placement = new PlacementService({
    inventory,
    store,
    clock,
    poolObjects: objects,
    queries,
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
    objects,
    pools,
    audit,
    config,
    witness: activity,
  });
  const missingPatches = new MissingPatches(clock);
  const { alarms, listeners: alarmListeners } = startAlarms(
    { store, objects: views, listPools },
    options,
    stops,
  );
  const plugins = new Plugins({ store, version, logger });
  plugins.start();
  const { jobs, start } = startJobs({
    ...shared,
    store,
    tasks,
    pools,
    catalog,
    config,
    people: users,
    objects,
  });

  const services: Services = {
    clock,
    store,
    inventory,
    catalog,
    queries,
    liveReaders,
    objectListing: views.listing,
    objectNotices: notices,
    objects,
    pools,
    storedPools,
    demoPools,
    poolDoors: new PoolDoors({
      pools,
      servers: store.servers,
      stored: storedPools,
    }),
    hostProber: new HostProber(parser.decoder),
    users,
    signIn,
    sessions,
    tickets,
    totpEnrollments: new TotpEnrollments(clock),
    resourceSets: new ResourceSets({ ...views, store, clock }),
    tasks,
    taskSubscriptions,
    jobs,
    transfers,
    oneTimePaths,
    placement,
    startHosts: new StartHostSelector({ placement, objects, inventory }),
    evacuations: new EvacuationPlanner({
      placement,
      objects,
      inventory,
      clock,
    }),
    balancer,
    rollingPlans: new RollingPlans(store.settings),
    missingPatches,
    hostStats: stats.hosts,
    objectStats: stats.objects,
    dashboards: new Dashboards({
      queries,
      objects,
      stats: stats.hosts,
      patches: missingPatches,
      inventory,
      listPools,
      clock,
    }),
    dashboardCache: createDashboardCache(clock),
    alarms,
    alarmListeners,
    activity,
    activityListeners,
    readStatus,
    statusFeed,
    performance,
    plugins,
  };
  return {
    services,
    consoles,
    catchUp,
    stats,
    previousRun: { steps, interrupted },
    startJobs: start,
  };
}
