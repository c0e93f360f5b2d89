import { Acls } from "./acls.js";
import { AlarmNotices } from "./alarm-notices.js";
import { AlarmRules } from "./alarm-rules.js";
import { Alarms } from "./alarms.js";
import { AuditLog } from "./audit-log.js";
import { BalancerPolicies } from "./balancer-policies.js";
import { BalancerRuns } from "./balancer-runs.js";
import { BalancerWatches } from "./balancer-watches.js";
import { CloudConfigs } from "./cloud-configs.js";
import { Grants } from "./grants.js";
import { Groups } from "./groups.js";
import { JobRuns } from "./job-runs.js";
import { Jobs } from "./jobs.js";
import type { Parts } from "./parts.js";
import { PlacementRules } from "./placement-rules.js";
import { Plugins } from "./plugins.js";
import { Privileges } from "./privileges.js";
import { ResourceSets } from "./resource-sets.js";
import { Roles } from "./roles.js";
import { Schedules } from "./schedules.js";
import { Servers } from "./servers.js";
import { Settings } from "./settings.js";
import { TaskSteps } from "./task-steps.js";
import { Tasks } from "./tasks.js";
import { TokenUses } from "./token-uses.js";
import { Tokens } from "./tokens.js";
import { Users } from "./users.js";

/** Everything that the store keeps. */
export function createNouns(parts: Parts) {
  const tokenUses = new TokenUses(parts);
  const nouns = {
    settings: new Settings(parts),
    servers: new Servers(parts),
    users: new Users(parts),
    groups: new Groups(parts),
    tokens: new Tokens(parts, tokenUses),
    roles: new Roles(parts),
    privileges: new Privileges(parts),
    grants: new Grants(parts),
    acls: new Acls(parts),
    jobs: new Jobs(parts),
    schedules: new Schedules(parts),
    jobRuns: new JobRuns(parts),
    alarmRules: new AlarmRules(parts),
    alarms: new Alarms(parts),
    alarmNotices: new AlarmNotices(parts),
    placementRules: new PlacementRules(parts),
    cloudConfigs: new CloudConfigs(parts),
    resourceSets: new ResourceSets(parts),
    plugins: new Plugins(parts),
    balancerPolicies: new BalancerPolicies(parts),
    balancerWatches: new BalancerWatches(parts),
    balancerRuns: new BalancerRuns(parts),
    tasks: new Tasks(parts),
    taskSteps: new TaskSteps(parts),
    audit: new AuditLog(parts),
  };
  return { nouns, tokenUses };
}
