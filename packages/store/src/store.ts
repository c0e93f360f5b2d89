import type { WallClock } from "@xo-server/kit";
import type { AvailabilityState } from "./commit/availability.js";
import type { CommitCounters } from "./commit/committer.js";
import type { Acls } from "./repositories/acls.js";
import type { Adoptions } from "./repositories/adoptions.js";
import type { AlarmNotices } from "./repositories/alarm-notices.js";
import type { AlarmRules } from "./repositories/alarm-rules.js";
import type { Alarms } from "./repositories/alarms.js";
import type { AuditChanges } from "./repositories/audit-changes.js";
import type { AuditForwards } from "./repositories/audit-forwards.js";
import type { AuditLog } from "./repositories/audit-log.js";
import type { BackupArchives } from "./repositories/backup-archives.js";
import type { BackupRepositories } from "./repositories/backup-repositories.js";
import type { BalancerPolicies } from "./repositories/balancer-policies.js";
import type { BalancerRuns } from "./repositories/balancer-runs.js";
import type { BalancerWatches } from "./repositories/balancer-watches.js";
import type { CloudConfigs } from "./repositories/cloud-configs.js";
import type { ClusterServers } from "./repositories/cluster-servers.js";
import type { Grants } from "./repositories/grants.js";
import type { Groups } from "./repositories/groups.js";
import type { JobRuns } from "./repositories/job-runs.js";
import type { Jobs } from "./repositories/jobs.js";
import type { Leases } from "./repositories/leases.js";
import type { OneTimeCalls } from "./repositories/one-time-calls.js";
import type { OneTimeUses } from "./repositories/one-time-uses.js";
import type { PlacementRules } from "./repositories/placement-rules.js";
import type { Plugins } from "./repositories/plugins.js";
import type { Privileges } from "./repositories/privileges.js";
import type { RestoreScreenshots } from "./repositories/restore-screenshots.js";
import type { ResourceSets } from "./repositories/resource-sets.js";
import type { Roles } from "./repositories/roles.js";
import type { Schedules } from "./repositories/schedules.js";
import type { Servers } from "./repositories/servers.js";
import type { Settings } from "./repositories/settings.js";
import type { Reservations } from "./repositories/reservations.js";
import type { SignInAttempts } from "./repositories/sign-in-attempts.js";
import type { TaskSteps } from "./repositories/task-steps.js";
import type { Tasks } from "./repositories/tasks.js";
import type { Tokens } from "./repositories/tokens.js";
import type { UserChangeOptions, Users } from "./repositories/users.js";
import type { Seals } from "./secrets/seals.js";

/**
 * The persistent data of the server.
 *
 * Reads are synchronous, from a cache, except for tasks, runs of jobs and of the
 * load balancer, archives of backups with their screenshots, alarms, leases and the audit log, which are in the database only. A
 * change resolves when it is on disk. While the database is unreachable, reads
 * from the cache work, everything else throws XoError STORE_UNAVAILABLE at once,
 * and the store reconnects by itself. A change in progress at the moment of the
 * failure may or may not have been committed.
 */
export interface Store {
  readonly settings: Settings;
  readonly servers: Servers;
  readonly users: Users;
  readonly groups: Groups;
  readonly tokens: Tokens;
  readonly roles: Roles;
  readonly privileges: Privileges;
  readonly grants: Grants;
  readonly acls: Acls;
  readonly jobs: Jobs;
  readonly schedules: Schedules;
  readonly jobRuns: JobRuns;
  readonly alarmRules: AlarmRules;
  readonly alarms: Alarms;
  readonly alarmNotices: AlarmNotices;
  readonly placementRules: PlacementRules;
  readonly cloudConfigs: CloudConfigs;
  readonly resourceSets: ResourceSets;
  readonly plugins: Plugins;
  readonly balancerPolicies: BalancerPolicies;
  readonly balancerWatches: BalancerWatches;
  readonly balancerRuns: BalancerRuns;
  readonly backupRepositories: BackupRepositories;
  readonly backupArchives: BackupArchives;
  readonly restoreScreenshots: RestoreScreenshots;
  readonly clusterServers: ClusterServers;
  readonly leases: Leases;
  readonly adoptions: Adoptions;
  readonly tasks: Tasks;
  readonly taskSteps: TaskSteps;
  readonly oneTimeUses: OneTimeUses;
  readonly signInAttempts: SignInAttempts;
  readonly reservations: Reservations;
  readonly oneTimeCalls: OneTimeCalls;
  readonly audit: AuditLog;
  readonly auditChanges: AuditChanges;
  readonly auditForwards: AuditForwards;

  readonly seals: Seals;
  readonly engine: "sqlite" | "postgres";
  /** Clock of stored dates: with PostgreSQL that of the database, the same for all its servers. */
  readonly clock: Pick<WallClock, "now">;
  readonly state: AvailabilityState;
  readonly counters: CommitCounters;
  /** @returns a function that removes the listener */
  onState(listener: (state: AvailabilityState) => void): () => void;
  /** Calls the listener with the name of each cached table that has changed. @returns a function that removes the listener */
  onChange(listener: (table: string) => void): () => void;
  /** Calls the listener with the name of each table that was reloaded because another process changed it. */
  onForeignChange(listener: (table: string) => void): () => void;
  /**
   * Calls the listener when leases were handed over or requested, or a server is to
   * leave; see ClusterNotices. SQLite: never. @returns a function that removes the listener
   */
  onClusterNotice(listener: () => void): () => void;
  /** Loads changes of other processes now instead of within `pollMs`. */
  refresh(): Promise<void>;
  /**
   * Loads changes that other servers committed before this call, for a client that
   * was connected to one of them. Concurrent calls share a read, at most ten per
   * second. SQLite: resolves immediately. Never rejects.
   */
  catchUp(): Promise<void>;
  /** Whether a cached table has a row with this id. */
  knows(id: string): boolean;

  /**
   * Creates a new key and encrypts all secrets with it. Tokens of clients stay
   * valid, but a client that requests its token again gets a new one.
   * @throws XoError UNSUPPORTED if the key is not in a file: then start with the
   *   new key before the old one, and remove the old one afterwards
   */
  rotateKey(): Promise<void>;
  /** All cached tables (see above), encrypted with a passphrase of at least 8 characters. */
  exportConfiguration(passphrase: string): AsyncIterable<Uint8Array>;
  /**
   * Replaces the configuration by an exported one, in one transaction.
   * @throws XoError PASSPHRASE_WRONG, IMPORT_INVALID, VALUE_TOO_LARGE
   */
  importConfiguration(
    file: AsyncIterable<Uint8Array>,
    passphrase: string,
    options?: UserChangeOptions,
  ): Promise<void>;

  /**
   * Writes the journal of SQLite into the database file, so that a copy of this
   * file alone has all changes until now. Without effect with PostgreSQL, and while
   * the disk is full. Never rejects.
   */
  checkpoint(): Promise<void>;
  /** Waits for pending changes and closes the database. */
  close(): Promise<void>;
}
