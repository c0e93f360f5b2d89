export { isPostgres } from "./engines/open-engine.js";
export { inspectStore, type StoreInspection } from "./inspect-store.js";
export { openStore } from "./open-store.js";
export { limits } from "./schema/limits.js";
export { endOf as endOfToken, tokenLifetime } from "./repositories/tokens.js";
export { defaultScryptCost } from "./secrets/password-hasher.js";
export type { AvailabilityState, Backoff } from "./commit/availability.js";
export type { CommitCounters } from "./commit/committer.js";
export type { Acl, Acls } from "./repositories/acls.js";
export type {
  Adoptable,
  Adopted,
  Adoptions,
} from "./repositories/adoptions.js";
export type { AlarmNotice, NewNotice } from "./repositories/alarm-notices.js";
export type {
  StoredAlarmRule,
  NewAlarmRule,
} from "./repositories/alarm-rules.js";
export type { Alarm, NewAlarm } from "./repositories/alarms.js";
export type {
  AuditChanges,
  PendingChange,
} from "./repositories/audit-changes.js";
export type { AuditEntry, AuditRecord } from "./repositories/audit-entry.js";
export type {
  AuditForward,
  AuditForwards,
  ForwardClaim,
} from "./repositories/audit-forwards.js";
export type { AuditLog, AuditPageOptions } from "./repositories/audit-log.js";
export type { AuditVerdict } from "./repositories/audit-walk.js";
export type {
  ArchivePageOptions,
  BackupArchive,
  BackupArchives,
} from "./repositories/backup-archives.js";
export type {
  BackupRepositories,
  BackupRepository,
  NewBackupRepository,
} from "./repositories/backup-repositories.js";
export type {
  BalancerPolicies,
  BalancerPolicy,
} from "./repositories/balancer-policies.js";
export type {
  BalancerRun,
  BalancerRunPage,
  BalancerRunPageOptions,
  BalancerRuns,
  BalancerRunStatus,
  NewBalancerRun,
} from "./repositories/balancer-runs.js";
export type {
  BalancerWatch,
  BalancerWatches,
} from "./repositories/balancer-watches.js";
export type {
  ClusterServer,
  ClusterServers,
  JoiningServer,
  ServerAddress,
} from "./repositories/cluster-servers.js";
export { LOST_SERVER_MS } from "./schema/cluster-tables.js";
export type {
  CloudConfig,
  CloudConfigKind,
  CloudConfigs,
  NewCloudConfig,
} from "./repositories/cloud-configs.js";
export type { Grants, Subject } from "./repositories/grants.js";
export type { Group, Groups } from "./repositories/groups.js";
export type {
  JobRun,
  JobRunEnd,
  JobRunStatus,
} from "./repositories/job-run.js";
export type { RunStart } from "./repositories/job-run-claims.js";
export type {
  JobRunPage,
  JobRunPageOptions,
  JobRuns,
} from "./repositories/job-runs.js";
export type { Job, Jobs, NewJob } from "./repositories/jobs.js";
export type { OneTimeCalls } from "./repositories/one-time-calls.js";
export type {
  AttemptRequest,
  AttemptAdmission,
  SignInAttempts,
  SignInFailures,
} from "./repositories/sign-in-attempts.js";
export type {
  NewReservation,
  Reservation,
  Reservations,
} from "./repositories/reservations.js";
export type { OneTimeUses } from "./repositories/one-time-uses.js";
export type {
  Fence,
  FreeLease,
  Lease,
  LeaseOwner,
  Leases,
  RenewedLease,
} from "./repositories/leases.js";
export type {
  NewPlacementRule,
  PlacementRule,
  PlacementRules,
} from "./repositories/placement-rules.js";
export type { Plugins, StoredPlugin } from "./repositories/plugins.js";
export type {
  NewPrivilege,
  Privilege,
  Privileges,
} from "./repositories/privileges.js";
export type {
  RestoreScreenshot,
  RestoreScreenshots,
} from "./repositories/restore-screenshots.js";
export type {
  NewResourceSet,
  ResourceSet,
  ResourceSets,
} from "./repositories/resource-sets.js";
export type { NewRole, Role, Roles } from "./repositories/roles.js";
export type {
  NewSchedule,
  Schedule,
  SchedulePatch,
  Schedules,
} from "./repositories/schedules.js";
export type {
  NewServer,
  Server,
  ServerCredentials,
  ServerPatch,
  Servers,
} from "./repositories/servers.js";
export type { Settings } from "./repositories/settings.js";
export type { TaskStep, TaskSteps } from "./repositories/task-steps.js";
export type {
  Task,
  TaskPage,
  TaskPageOptions,
  Tasks,
} from "./repositories/tasks.js";
export type {
  NewToken,
  Token,
  TokenProof,
  Tokens,
} from "./repositories/tokens.js";
export type {
  NewUser,
  User,
  UserChangeOptions,
  UserPatch,
  Users,
} from "./repositories/users.js";
export type { StoreCosts, StoreOptions } from "./options.js";
export type { KeyOptions } from "./secrets/key-source.js";
export type { Seals } from "./secrets/seals.js";
export type { ScryptCost } from "./secrets/password-hasher.js";
export type { Store } from "./store.js";
