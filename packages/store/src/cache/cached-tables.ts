import { CachedTable } from "./cached-table.js";

/** The cached tables with their lookup keys. */
export function createCachedTables() {
  return {
    settings: new CachedTable("settings", "setting", {}),
    servers: new CachedTable("servers", "server", {
      host: (row) => row.host,
    }),
    users: new CachedTable("users", "user", { name: (row) => row.name }),
    groups: new CachedTable("groups", "group", { name: (row) => row.name }),
    memberships: new CachedTable("memberships", "membership", {
      group: (row) => row.group_id,
      user: (row) => row.user_id,
    }),
    tokens: new CachedTable("tokens", "token", {
      hash: (row) => row.hash,
      user: (row) => row.user_id,
    }),
    roles: new CachedTable("roles", "role", { name: (row) => row.name }),
    privileges: new CachedTable("privileges", "privilege", {
      role: (row) => row.role_id,
    }),
    grants: new CachedTable("grants", "grant", {
      role: (row) => row.role_id,
      subject: (row) => `${row.subject_type}/${row.subject_id}`,
    }),
    acls: new CachedTable("acls", "acl", {
      subject: (row) => row.subject,
      object: (row) => row.object,
    }),
    jobs: new CachedTable("jobs", "job", {}),
    schedules: new CachedTable("schedules", "schedule", {
      job: (row) => row.job_id,
    }),
    alarmRules: new CachedTable("alarm_rules", "alarm rule", {}),
    placementRules: new CachedTable("placement_rules", "placement rule", {
      pool: (row) => row.pool_id,
    }),
    cloudConfigs: new CachedTable("cloud_configs", "cloud config", {}),
    resourceSets: new CachedTable("resource_sets", "resource set", {}),
    plugins: new CachedTable("plugins", "plugin", {}),
    balancerPolicies: new CachedTable(
      "balancer_policies",
      "load balancer policy",
      {},
    ),
    backupRepositories: new CachedTable(
      "backup_repositories",
      "backup repository",
      {},
    ),
  };
}

export type CachedTables = ReturnType<typeof createCachedTables>;
