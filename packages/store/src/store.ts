import type { AvailabilityState } from "./commit/availability.js";
import type { CommitCounters } from "./commit/committer.js";
import type { Acls } from "./repositories/acls.js";
import type { AlarmNotices } from "./repositories/alarm-notices.js";
import type { AlarmRules } from "./repositories/alarm-rules.js";
import type { Alarms } from "./repositories/alarms.js";
import type { AuditLog } from "./repositories/audit-log.js";
import type { BalancerPolicies } from "./repositories/balancer-policies.js";
import type { BalancerRuns } from "./repositories/balancer-runs.js";
import type { BalancerWatches } from "./repositories/balancer-watches.js";
import type { CloudConfigs } from "./repositories/cloud-configs.js";
import type { Grants } from "./repositories/grants.js";
import type { Groups } from "./repositories/groups.js";
import type { JobRuns } from "./repositories/job-runs.js";
import type { Jobs } from "./repositories/jobs.js";
import type { PlacementRules } from "./repositories/placement-rules.js";
import type { Plugins } from "./repositories/plugins.js";
import type { Privileges } from "./repositories/privileges.js";
import type { ResourceSets } from "./repositories/resource-sets.js";
import type { Roles } from "./repositories/roles.js";
import type { Schedules } from "./repositories/schedules.js";
import type { Servers } from "./repositories/servers.js";
import type { Settings } from "./repositories/settings.js";
import type { TaskSteps } from "./repositories/task-steps.js";
import type { Tasks } from "./repositories/tasks.js";
import type { Tokens } from "./repositories/tokens.js";
import type { Users } from "./repositories/users.js";

/**
 * What must be there after a restart.
 *
 * Reading is from memory and takes no time, but for tasks, runs of jobs and of the load balancer, alarms and the audit log,
 * which are in the database only. A change resolves when it is on the disk.
 * While the database is gone, reading from memory goes on, everything else
 * throws XoError STORE_UNAVAILABLE at once, and the store comes back by itself.
 * A change that was under way when the database went may or may not be in it.
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
  readonly tasks: Tasks;
  readonly taskSteps: TaskSteps;
  readonly audit: AuditLog;

  readonly engine: "sqlite" | "postgres";
  readonly state: AvailabilityState;
  readonly counters: CommitCounters;
  /** @returns how to stop listening */
  onState(listener: (state: AvailabilityState) => void): () => void;
  /** Hears the names of tables that have changed in memory, whoever changed them. @returns how to stop listening */
  onChange(listener: (table: string) => void): () => void;
  /** Hears the names of tables that were read anew because another process changed them. */
  onForeignChange(listener: (table: string) => void): () => void;
  /** Brings memory in step with other processes now, rather than within `pollMs`. */
  refresh(): Promise<void>;

  /**
   * Makes a new key and encrypts all secrets with it. Tokens of clients stay
   * good, but a client that asks anew gets a new one.
   * @throws XoError UNSUPPORTED when the key is not in a file: then start with
   *   the new key before the old one, and take the old one out afterwards
   */
  rotateKey(): Promise<void>;
  /** Everything but tasks, runs of jobs and of the load balancer, alarms and the audit log, encrypted with a passphrase of 8 characters or more. */
  exportConfiguration(passphrase: string): AsyncIterable<Uint8Array>;
  /**
   * Puts an exported configuration in the place of the present one, all or nothing.
   * @throws XoError PASSPHRASE_WRONG, IMPORT_INVALID, VALUE_TOO_LARGE
   */
  importConfiguration(
    file: AsyncIterable<Uint8Array>,
    passphrase: string,
  ): Promise<void>;

  /** Waits for changes that are under way. */
  close(): Promise<void>;
}
