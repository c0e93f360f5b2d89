import type {
  AuditForwardRow,
  AuditHeadRow,
  AuditPendingRow,
  AuditRow,
} from "./audit-tables.js";
import type {
  ClusterServerRow,
  LeaseRow,
  ReservationRow,
  SignInAttemptRow,
} from "./cluster-tables.js";

/**
 * The SQL tables; docs/database.md has an overview. Only text and integers, so
 * that both engines store the same: flags are 0 or 1, times are milliseconds
 * since the epoch, `*_json` is JSON, `*_sealed` is a ciphertext of the vault.
 */
export interface Tables {
  meta: { id: string; value: string };
  table_versions: { id: string; version: number };
  settings: SettingRow;
  servers: ServerRow;
  users: UserRow;
  groups: GroupRow;
  memberships: MembershipRow;
  tokens: TokenRow;
  roles: RoleRow;
  privileges: PrivilegeRow;
  grants: GrantRow;
  acls: AclRow;
  jobs: JobRow;
  schedules: ScheduleRow;
  schedule_marks: ScheduleMarkRow;
  job_runs: JobRunRow;
  alarm_rules: AlarmRuleRow;
  alarms: AlarmRow;
  alarm_notices: AlarmNoticeRow;
  placement_rules: PlacementRuleRow;
  cloud_configs: CloudConfigRow;
  resource_sets: ResourceSetRow;
  plugins: PluginRow;
  balancer_policies: BalancerPolicyRow;
  balancer_watches: BalancerWatchRow;
  balancer_runs: BalancerRunRow;
  backup_repositories: BackupRepositoryRow;
  backup_archives: BackupArchiveRow;
  restore_pictures: RestoreScreenshotRow;
  cluster_servers: ClusterServerRow;
  leases: LeaseRow;
  tasks: TaskRow;
  task_steps: TaskStepRow;
  one_time_uses: OneTimeUseRow;
  one_time_calls: OneTimeCallRow;
  sign_in_attempts: SignInAttemptRow;
  reservations: ReservationRow;
  audit: AuditRow;
  audit_pending: AuditPendingRow;
  audit_head: AuditHeadRow;
  audit_forwards: AuditForwardRow;
}

export type Value = string | number | null;

/** `id` is the key of a setting. */
export interface SettingRow {
  id: string;
  value_json: string;
  updated_at: number;
}

export interface ServerRow {
  id: string;
  host: string;
  username: string;
  /** Password and proxy, both secret. */
  credentials_sealed: string;
  label: string;
  enabled: number;
  options_json: string;
  created_at: number;
  updated_at: number;
}

export interface UserRow {
  id: string;
  name: string;
  /** PHC string; null for users of an external provider. */
  password_hash: string | null;
  permission: string;
  preferences_json: string;
  /** Provider to the id of this user at the provider. */
  providers_json: string;
  totp_sealed: string | null;
  /** Last used time step of TOTP: a code is valid once. */
  totp_step: number;
  created_at: number;
  updated_at: number;
}

export interface GroupRow {
  id: string;
  name: string;
  provider: string | null;
  created_at: number;
}

export interface MembershipRow {
  id: string;
  group_id: string;
  user_id: string;
}

export interface TokenRow {
  id: string;
  /** SHA-256 of the token, hexadecimal. */
  hash: string;
  /** Salt from which the token of a client is derived; null for random tokens. */
  salt: string | null;
  user_id: string;
  client_id: string | null;
  description: string;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  last_address: string | null;
  /** A TokenProof. */
  proof: string;
  idle_ms: number | null;
}

export interface RoleRow {
  id: string;
  name: string;
  description: string;
  is_template: number;
  created_at: number;
}

export interface PrivilegeRow {
  id: string;
  role_id: string;
  effect: string;
  resource: string;
  action: string;
  selector_json: string | null;
}

export interface GrantRow {
  id: string;
  role_id: string;
  subject_type: string;
  subject_id: string;
}

export interface AclRow {
  id: string;
  subject: string;
  object: string;
  action: string;
}

export interface JobRow {
  id: string;
  name: string;
  type: string;
  user_id: string | null;
  body_json: string;
  /** Secret part of the body, JSON. */
  secret_sealed: string | null;
  created_at: number;
  updated_at: number;
}

export interface ScheduleRow {
  id: string;
  job_id: string;
  name: string;
  cron: string;
  /** IANA time zone; null: that of the server. */
  timezone: string | null;
  enabled: number;
  /** `skip` or `once`: what to do with times at which no server was running. */
  missed: string;
  /** Older ones are skipped. */
  missed_limit_ms: number | null;
  /** `skip` or `queue`: what to do with a time at which the job is still running. */
  overlap: string;
  created_at: number;
  updated_at: number;
}

/** Time up to which a schedule has been processed by any server. */
interface ScheduleMarkRow {
  id: string;
  done_until: number;
}

export interface JobRunRow {
  id: string;
  job_id: string;
  job_name: string;
  schedule_id: string | null;
  /** The server that runs the job. */
  owner: string;
  user_id: string | null;
  status: string;
  /** Scheduled time. */
  due_at: number | null;
  started_at: number;
  ended_at: number | null;
  task_id: string | null;
  body_json: string;
}

export interface AlarmRuleRow {
  id: string;
  name: string;
  body_json: string;
  /** Headers of webhooks and their signing keys, JSON. */
  secret_sealed: string | null;
  created_at: number;
  updated_at: number;
}

export interface AlarmRow {
  id: string;
  rule_id: string;
  /**
   * `<rule>/<subject>` while the alarm is open, or if it ended immediately: unique, so that only
   * one server raises it.
   */
  open_key: string | null;
  object_id: string | null;
  began_at: number;
  ended_at: number | null;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
  body_json: string;
}

/** A notification to be sent, or that could not be sent. */
export interface AlarmNoticeRow {
  id: string;
  rule_id: string;
  /** Id of the target in the rule. */
  target_id: string;
  body_json: string;
  attempts: number;
  /** Time of the next attempt; null: no more attempts. */
  next_at: number | null;
  /** Error of the last attempt. */
  error: string | null;
  created_at: number;
}

export interface PlacementRuleRow {
  id: string;
  pool_id: string;
  name: string;
  body_json: string;
  created_at: number;
  updated_at: number;
}

export interface CloudConfigRow {
  id: string;
  /** `user` or `network` */
  kind: string;
  name: string;
  template: string;
  created_at: number;
  updated_at: number;
}

export interface ResourceSetRow {
  id: string;
  name: string;
  body_json: string;
  created_at: number;
  updated_at: number;
}

export interface PluginRow {
  id: string;
  /** JSON; may contain secrets. */
  configuration_sealed: string | null;
  autoload: number;
  updated_at: number;
}

/** `id` is the id of the pool. */
export interface BalancerPolicyRow {
  id: string;
  body_json: string;
  updated_at: number;
}

/** `id` is the id of the pool. */
interface BalancerWatchRow {
  id: string;
  /** The server that balances the pool. */
  owner: string;
  state_json: string;
}

export interface BalancerRunRow {
  id: string;
  pool_id: string;
  /** The server that ran the balancer. */
  owner: string;
  status: string;
  started_at: number;
  ended_at: number | null;
  task_id: string | null;
  body_json: string;
}

export interface BackupRepositoryRow {
  id: string;
  name: string;
  url: string;
  enabled: number;
  /** JSON: the recovery key, keys of the storage. */
  credentials_sealed: string;
  options_json: string;
  /** The anchor and the state of the repository at the last access. */
  state_json: string;
  created_at: number;
  updated_at: number;
}

export interface BackupArchiveRow {
  /** `<repository>/<backup>` */
  id: string;
  repository_id: string;
  /** UUID of the VM; null: a backup of something else. */
  vm_id: string | null;
  made_at: number;
  body_json: string;
}

interface RestoreScreenshotRow {
  /** Id of the archive. */
  id: string;
  repository_id: string;
  taken_at: number;
  /** PNG, base64. */
  picture_sealed: string;
}

export interface TaskRow {
  id: string;
  /** The server that runs it. */
  owner: string;
  name: string;
  status: string;
  user_id: string | null;
  object_id: string | null;
  started_at: number;
  updated_at: number;
  ended_at: number | null;
  body_json: string;
  /** Time at which another server requested to abort the task. */
  abort_asked_at: number | null;
}

export interface TaskStepRow {
  /** `<task>/<key>` */
  id: string;
  task_id: string;
  body_json: string;
  written_at: number;
}

/** A single-use secret of a client that was used. */
interface OneTimeUseRow {
  id: string;
  expires_at: number;
}

/** The call that offered a one-time path. */
interface OneTimeCallRow {
  /** SHA-256 of the secret of the path, hexadecimal. */
  id: string;
  user_id: string;
  call_sealed: string;
  expires_at: number;
}
