export { openStore } from "./open-store.js";
export { limits } from "./limits.js";
export { tokenLifetime } from "./nouns/tokens.js";
export { defaultScryptCost } from "./secrets/password-hasher.js";
export type { Clock } from "./clock.js";
export type { AvailabilityState, Backoff } from "./commit/availability.js";
export type { CommitCounters } from "./commit/committer.js";
export type { Logger } from "./logger.js";
export type { Acl, Acls } from "./nouns/acls.js";
export type { AlarmNotice, NewNotice } from "./nouns/alarm-notices.js";
export type { AlarmRule, NewAlarmRule } from "./nouns/alarm-rules.js";
export type { Alarm, NewAlarm } from "./nouns/alarms.js";
export type { AuditEntry, AuditRecord } from "./nouns/audit-entry.js";
export type { AuditLog, AuditPageOptions } from "./nouns/audit-log.js";
export type { AuditVerdict } from "./nouns/audit-walk.js";
export type {
  BalancerPolicies,
  BalancerPolicy,
} from "./nouns/balancer-policies.js";
export type {
  BalancerRun,
  BalancerRunPage,
  BalancerRunPageOptions,
  BalancerRuns,
  BalancerRunStatus,
  NewBalancerRun,
} from "./nouns/balancer-runs.js";
export type {
  BalancerWatch,
  BalancerWatches,
  WatchWish,
} from "./nouns/balancer-watches.js";
export type {
  CloudConfig,
  CloudConfigKind,
  CloudConfigs,
  NewCloudConfig,
} from "./nouns/cloud-configs.js";
export type { Grants, Subject } from "./nouns/grants.js";
export type { Group, Groups } from "./nouns/groups.js";
export type { JobRun, JobRunEnd, JobRunStatus } from "./nouns/job-run.js";
export type { RunStart } from "./nouns/job-run-claims.js";
export type {
  JobRunPage,
  JobRunPageOptions,
  JobRuns,
} from "./nouns/job-runs.js";
export type { Job, Jobs, NewJob } from "./nouns/jobs.js";
export type {
  NewPlacementRule,
  PlacementRule,
  PlacementRules,
} from "./nouns/placement-rules.js";
export type { Plugins, StoredPlugin } from "./nouns/plugins.js";
export type {
  NewPrivilege,
  Privilege,
  Privileges,
} from "./nouns/privileges.js";
export type {
  NewResourceSet,
  ResourceSet,
  ResourceSets,
} from "./nouns/resource-sets.js";
export type { NewRole, Role, Roles } from "./nouns/roles.js";
export type {
  NewSchedule,
  Schedule,
  SchedulePatch,
  Schedules,
} from "./nouns/schedules.js";
export type {
  NewServer,
  Server,
  ServerCredentials,
  ServerPatch,
  Servers,
} from "./nouns/servers.js";
export type { Settings } from "./nouns/settings.js";
export type { TaskStep, TaskSteps } from "./nouns/task-steps.js";
export type { Task, TaskPage, TaskPageOptions, Tasks } from "./nouns/tasks.js";
export type { NewToken, Token, Tokens } from "./nouns/tokens.js";
export type { NewUser, User, UserPatch, Users } from "./nouns/users.js";
export type { StoreOptions } from "./options.js";
export type { KeyOptions } from "./secrets/key-source.js";
export type { ScryptCost } from "./secrets/password-hasher.js";
export type { Store } from "./store.js";
