/**
 * The tables as SQL sees them; README.md has the picture. Only text and whole
 * numbers, so that both engines hold the same: flags are 0 or 1, times are
 * milliseconds since the epoch, `*_json` is JSON, `*_sealed` is a ciphertext
 * of the vault.
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
  tasks: TaskRow;
  task_steps: TaskStepRow;
  audit: AuditRow;
  audit_head: AuditHeadRow;
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
  /** Password and proxy: both are secrets. */
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
  /** In PHC's form; null for people who sign in elsewhere. */
  password_hash: string | null;
  permission: string;
  preferences_json: string;
  /** Provider to the provider's own id of this person. */
  providers_json: string;
  totp_sealed: string | null;
  /** Last time step of TOTP that was used: a code is good once. */
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
  /** What a client's token is derived from; null for random tokens. */
  salt: string | null;
  user_id: string;
  client_id: string | null;
  description: string;
  created_at: number;
  expires_at: number;
  last_used_at: number | null;
  last_address: string | null;
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
  /** What nobody is shown of the body, JSON. */
  secret_sealed: string | null;
  created_at: number;
  updated_at: number;
}

export interface ScheduleRow {
  id: string;
  job_id: string;
  name: string;
  cron: string;
  /** IANA's name; null: that of the server. */
  timezone: string | null;
  enabled: number;
  /** `skip` or `once`: what becomes of times at which no server was there. */
  missed: string;
  /** Older ones are skipped. */
  missed_limit_ms: number | null;
  /** `skip` or `queue`: what becomes of a time at which the job is still being done. */
  overlap: string;
  created_at: number;
  updated_at: number;
}

/** Up to when the times of a schedule have been seen to, whoever did it. */
export interface ScheduleMarkRow {
  id: string;
  done_until: number;
}

export interface JobRunRow {
  id: string;
  job_id: string;
  job_name: string;
  schedule_id: string | null;
  /** The server that does it. */
  owner: string;
  user_id: string | null;
  status: string;
  /** When it should have begun. */
  due_at: number | null;
  started_at: number;
  ended_at: number | null;
  /** When its server was last known to be at it. */
  seen_at: number;
  task_id: string | null;
  body_json: string;
}

export interface AlarmRuleRow {
  id: string;
  name: string;
  body_json: string;
  /** Headers of web hooks and the keys that they are signed with, JSON. */
  secret_sealed: string | null;
  created_at: number;
  updated_at: number;
}

export interface AlarmRow {
  id: string;
  rule_id: string;
  /** `<rule>/<what it is about>` while it is open, or if it ended as it began: there is one at most, whichever server found it. */
  open_key: string | null;
  object_id: string | null;
  began_at: number;
  ended_at: number | null;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
  body_json: string;
}

/** A message that is to be sent, or could not be. */
export interface AlarmNoticeRow {
  id: string;
  rule_id: string;
  /** Of the rule's `sendTo`. */
  target_id: string;
  body_json: string;
  attempts: number;
  /** When it is tried next; null: it was given up. */
  next_at: number | null;
  /** Of the last try. */
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
  /** JSON: any of it may be a secret. */
  configuration_sealed: string | null;
  autoload: number;
  updated_at: number;
}

/** `id` is that of the pool. */
export interface BalancerPolicyRow {
  id: string;
  body_json: string;
  updated_at: number;
}

/** `id` is that of the pool. */
export interface BalancerWatchRow {
  id: string;
  /** The server that balances it. */
  owner: string;
  is_moving: number;
  state_json: string;
  /** When its server was last known to be at it. */
  seen_at: number;
}

export interface BalancerRunRow {
  id: string;
  pool_id: string;
  /** The server that did it. */
  owner: string;
  status: string;
  started_at: number;
  ended_at: number | null;
  task_id: string | null;
  body_json: string;
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
  /** When somebody asked its server to give it up. */
  abort_asked_at: number | null;
}

export interface TaskStepRow {
  /** `<task>/<key>` */
  id: string;
  task_id: string;
  body_json: string;
  written_at: number;
}

export interface AuditRow {
  /** 1, 2, 3 ... without a gap. */
  seq: number;
  time: number;
  user_id: string | null;
  user_name: string | null;
  address: string | null;
  operation: string;
  object_id: string | null;
  parameters_json: string;
  outcome: string;
  error_code: string | null;
  task_id: string | null;
  /** Hash of the row before, and of this one. */
  previous: string;
  hash: string;
}

/** `head`: where the chain ends, sealed so that its end cannot be cut off; `start`: the last row that was pruned. */
export interface AuditHeadRow {
  id: string;
  seq: number;
  hash: string;
  seal: string;
}
