import type { Cluster } from "../../cluster/start-cluster.js";
import type { WallClock } from "@xo-server/kit";
import type { Catalog, Inventory, Queries } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import type { ActivityListeners } from "../../activity/activity-listeners.js";
import type { Activity } from "../../activity/activity.js";
import type { AlarmListeners } from "../../alarms/alarm-listeners.js";
import type { Alarms } from "../../alarms/alarms.js";
import type { ReadForwarding } from "../../audit-forwarding/start-audit-forwarding.js";
import type { IpPools } from "../../ip-pools/ip-pools.js";
import type { OneTimePaths } from "../../transfers/one-time-paths.js";
import type { AuthenticatedUsers } from "../../auth/users/authenticated-users.js";
import type { ExternalProviders } from "../../auth/sign-in/external-providers.js";
import type { ProviderSettings } from "../../auth/sign-in/provider-settings.js";
import type { PasswordPolicy } from "../../auth/users/password-policy.js";
import type { SecondFactorPolicy } from "../../auth/second-factor/second-factor-policy.js";
import type { SessionLimits } from "../../auth/sessions/session-limits.js";
import type { Sessions } from "../../auth/sessions/sessions.js";
import type { SignInService } from "../../auth/sign-in/sign-in-service.js";
import type { StoredSessions } from "../../auth/sessions/stored-sessions.js";
import type { Tickets } from "../../auth/sessions/tickets.js";
import type { TotpEnrollments } from "../../auth/second-factor/totp-enrollments.js";
import type { Archives } from "../../backups/archives/archives.js";
import type { Maintenance } from "../../backups/maintenance/maintenance.js";
import type { BackupCoverage } from "../../backups/report/coverage.js";
import type { Repositories } from "../../backups/repositories/repositories.js";
import type { Workers } from "../../backups/repositories/workers.js";
import type { BulkRuns } from "../../bulk/bulk-runs.js";
import type { Balancer } from "../../balancer/balancer.js";
import type { Dashboards } from "../../dashboard/dashboards.js";
import type { AnswerCache } from "../../dashboard/answer-cache.js";
import type { HealthSources } from "../../health/health-reader.js";
import type { CpuProfiler } from "../../diagnostics/cpu-profiler.js";
import type { HeapSnapshots } from "../../diagnostics/heap-snapshots.js";
import type { TrafficRuleWatch } from "../../networks/traffic-rule-watch.js";
import type { MissingPatches } from "../../updates/missing-patches.js";
import type { RollingRecords } from "../../rolling/rolling-records.js";
import type { WavePlanner } from "../../rolling/wave-planner.js";
import type { DiskImages } from "../../imports/disk-images.js";
import type { Jobs } from "../../jobs/jobs.js";
import type { Completeness } from "../../objects/completeness.js";
import type { ClientQueries } from "../../objects/client-queries.js";
import type { ObjectListing } from "../../objects/object-listing.js";
import type { ObjectNotices } from "../../objects/object-notices.js";
import type { PoolObjects } from "../../objects/pool-objects.js";
import type { EvacuationPlanner } from "../../placement/evacuations.js";
import type { PlacementService } from "../../placement/placement-service.js";
import type { StartHostSelector } from "../../placement/start-host-selector.js";
import type { Plugins } from "../../plugins/plugins.js";
import type { DemoPools } from "../../pools/demo-pools.js";
import type { PoolCredentials } from "../../pools/pool-credentials.js";
import type { Pools } from "../../pools/pools.js";
import type { Probes } from "../../probes/probes.js";
import type { StoredPools } from "../../pools/stored-pools.js";
import type { ResourceSets } from "../../resource-sets/resource-sets.js";
import type { HostStats } from "../../stats/host-stats.js";
import type { ObjectStats } from "../../stats/object-stats.js";
import type { PerformanceRing } from "../../status/performance-ring.js";
import type { StatusFeed } from "../../status/status-feed.js";
import type { VisibleStatus } from "../../status/status.js";
import type { Client } from "../../auth/sessions/client.js";
import type { CallContext } from "../../operations/operation.js";
import type { TaskSubscriptions } from "../../tasks/task-subscriptions.js";
import type { Tasks } from "../../tasks/tasks.js";
import type { RemoteFiles } from "../../transfers/remote-files.js";
import type { Transfers } from "../../transfers/transfers.js";

/** The services that operations use. The dispatcher passes them to each handler. */
export interface Services {
  readonly clock: WallClock;
  readonly cluster: Cluster;
  readonly store: Store;
  readonly readForwarding: ReadForwarding;

  /** Records of all pools. */
  readonly inventory: Inventory;
  /** Objects as clients see them. */
  readonly catalog: Catalog;
  readonly queries: Queries;
  readonly trafficRules: Pick<TrafficRuleWatch, "begin">;
  readonly completeness: Completeness;
  readonly clientQueries: ClientQueries;
  readonly objectListing: ObjectListing;
  readonly objectNotices: ObjectNotices;
  /** Not bound to a task: for cleanup that must succeed even if the task is cancelled. */
  readonly objects: PoolObjects;

  readonly pools: Pools;
  /** Pool connections that are stored in the database. */
  readonly storedPools: StoredPools;
  readonly demoPools: DemoPools;
  readonly poolCredentials: PoolCredentials;
  readonly probes: Pick<Probes, "prober" | "client">;

  readonly users: AuthenticatedUsers;
  readonly signIn: SignInService;
  readonly providers: ExternalProviders;
  readonly providerSettings: ProviderSettings;
  readonly sessions: Sessions;
  readonly storedSessions: StoredSessions;
  readonly secondFactors: SecondFactorPolicy;
  readonly sessionLimits: SessionLimits;
  readonly tickets: Tickets;
  readonly totpEnrollments: TotpEnrollments;
  readonly passwordPolicy: PasswordPolicy;
  readonly resourceSets: ResourceSets;
  readonly ipPools: IpPools;

  readonly tasks: Tasks;
  readonly bulkRuns: BulkRuns;
  readonly taskSubscriptions: TaskSubscriptions;
  readonly jobs: Jobs;
  readonly transfers: Transfers;
  readonly remoteFiles: RemoteFiles;
  readonly oneTimePaths: OneTimePaths;

  readonly backupRepositories: Repositories;
  readonly backupCoverage: BackupCoverage;
  readonly backupArchives: Archives;
  readonly backupMaintenance: Maintenance;
  readonly backupWorkers: Workers;
  readonly diskImages: DiskImages;

  readonly placement: PlacementService;
  readonly startHosts: StartHostSelector;
  readonly evacuations: EvacuationPlanner;
  readonly balancer: Balancer;
  readonly rollingRecords: RollingRecords;
  readonly wavePlanner: WavePlanner;
  readonly missingPatches: MissingPatches;

  readonly hostStats: HostStats;
  readonly objectStats: ObjectStats;
  readonly dashboards: Dashboards;
  readonly dashboardCache: AnswerCache;
  readonly healthSources: HealthSources;

  readonly alarms: Alarms;
  readonly alarmListeners: AlarmListeners;
  readonly activity: Activity;
  readonly activityListeners: ActivityListeners;

  /** The current status, limited to what a caller may read. */
  readonly readVisibleStatus: (
    reader: Pick<CallContext, "client" | "user">,
  ) => VisibleStatus;
  readonly statusFeed: StatusFeed<Client>;
  readonly performance: PerformanceRing;
  readonly cpuProfiler: CpuProfiler;
  readonly heapSnapshots: HeapSnapshots;
  readonly plugins: Plugins;
}
