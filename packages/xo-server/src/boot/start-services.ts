import { createDefaultRules } from "../alarms/default-rules.js";
import type { OneTimeSeals } from "../auth/sessions/one-time-seals.js";
import type { StoredSessions } from "../auth/sessions/stored-sessions.js";
import type { Consoles } from "../consoles/consoles.js";
import { HostClocks } from "../health/host-clocks.js";
import { Dashboards } from "../dashboard/dashboards.js";
import { createDashboardCache } from "../dashboard/answer-cache.js";
import { startJobs, type StartedJobs } from "../jobs/start-jobs.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/definition/services.js";
import { PoolCredentials } from "../pools/pool-credentials.js";
import type { Stats } from "../stats/start-stats.js";
import type { ServerOptions } from "./server-options.js";
import { startAuthServices } from "./start-auth-services.js";
import type { BackupFigures } from "../backups/report/backup-figures.js";
import { startBackupJobs } from "./start-backup-jobs.js";
import { startBackupServices } from "./start-backup-services.js";
import type { Core } from "./start-core.js";
import {
  startMonitoringServices,
  type WithTls,
} from "./start-monitoring-services.js";
import { startPlacementServices } from "./start-placement-services.js";
import { startRollingJobs } from "./start-rolling-jobs.js";
import { startTrafficRules } from "./start-traffic-rules.js";
import { startUsageReports } from "./start-usage-reports.js";
import { startUpdates, type Updates } from "./start-updates.js";
import { startStatusServices } from "./start-status-services.js";
import { startTaskServices, type TaskServices } from "./start-task-services.js";

export interface StartedServices {
  /** The services that operations use. */
  readonly services: Services;
  readonly consoles: Consoles;
  readonly seals: OneTimeSeals;
  readonly storedSessions: StoredSessions;
  readonly catchUp: TaskServices["catchUp"];
  readonly previousRun: TaskServices["previousRun"];
  readonly stats: Stats;
  readonly startJobs: StartedJobs["start"];
  readonly runs: StartedJobs["runs"];
  readonly cluster: Core["cluster"];
}

/**
 * Starts all services that operations use. Background services (jobs, balancer,
 * alarms, activity) are started by startBackground.
 */
export async function startServices(
  started: Core & WithTls,
  options: ServerOptions,
  stops: StopStack,
): Promise<StartedServices> {
  const core = { ...started, ...startUpdates(started, stops) };
  if (options.createsDefaultRules !== false)
    await createDefaultRules(core.store);
  // Alarms are created before the backup figures that they read.
  const late: { figures?: BackupFigures } = {};
  const monitoring = startMonitoringServices(
    core,
    options,
    stops,
    async (figure) => late.figures?.read(figure),
  );
  const { auth, consoles, seals, storedSessions } = await startAuthServices(
    core,
    options,
    stops,
  );
  const status = startStatusServices(core, options, stops);
  const { work, catchUp, previousRun } = await startTaskServices(
    core,
    options,
    stops,
  );
  const { placing, stats } = startPlacementServices(
    core,
    { ...work, ...monitoring },
    options,
    stops,
  );
  const backups = startBackupServices({ ...core, ...work }, options, stops);
  const { kinds, leftovers, backupCoverage, ...backupJobs } =
    await startBackupJobs(core, { ...auth, ...backups }, stops, options);
  late.figures = backupJobs.figures;
  const { jobs, runs, start } = startJobs({
    ...core,
    catalog: core.views.catalog,
    tasks: work.tasks,
    users: auth.users,
    config: options.config,
    logger: options.loggers.named("xo:api"),
    stops,
    kinds: new Map([
      ...kinds,
      startRollingJobs({ ...core, ...placing, users: auth.users }),
      startUsageReports({ ...core, memory: stats.memory }, options, auth.users),
    ]),
  });
  const services: Services = {
    ...startPoolServices(core, options, stops),
    cluster: core.cluster,
    ...monitoring,
    ...auth,
    ...status,
    ...work,
    ...placing,
    ...createDashboards(core, stats),
    ...backups,
    backupCoverage,
    jobs,
  };
  return {
    services,
    consoles,
    seals,
    storedSessions,
    catchUp,
    previousRun,
    stats,
    runs,
    cluster: core.cluster,
    async startJobs(dispatcher, resumed) {
      await start(dispatcher, resumed);
      leftovers.start();
    },
  };
}

/** The database, the pools and their objects. */
function startPoolServices(
  core: Core,
  options: ServerOptions,
  stops: StopStack,
) {
  const { clock, store, inventory, objects, pools } = core;
  const { views, storedPools, demoPools, readForwarding } = core;
  const { servers } = store;
  return {
    ...startTrafficRules(core, options, stops),
    clock,
    store,
    readForwarding,
    inventory,
    catalog: views.catalog,
    queries: views.queries,
    completeness: views.completeness,
    clientQueries: views.clientQueries,
    objectListing: views.listing,
    objectNotices: views.notices,
    objects,
    pools,
    storedPools,
    demoPools,
    poolCredentials: new PoolCredentials({
      pools,
      servers,
      stored: storedPools,
    }),
    probes: core.probes,
  };
}

function createDashboards(
  { clock, inventory, objects, pools, views, missingPatches }: Core & Updates,
  stats: Stats,
): Pick<
  Services,
  "missingPatches" | "dashboards" | "dashboardCache" | "healthSources"
> {
  const dashboards = new Dashboards({
    queries: views.queries,
    objects,
    stats: stats.hosts,
    patches: missingPatches,
    inventory,
    listPools: () => pools.listSummaries(),
    clock,
  });
  const dashboardCache = createDashboardCache(clock);
  const healthSources = {
    queries: views.queries,
    inventory,
    hostClocks: new HostClocks({ objects, clock }),
    clock,
  };
  return {
    missingPatches,
    dashboards,
    dashboardCache,
    healthSources,
  };
}
