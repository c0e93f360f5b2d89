import { Acls } from "./acls.js";
import { Adoptions } from "./adoptions.js";
import { AlarmNotices } from "./alarm-notices.js";
import { AlarmRules } from "./alarm-rules.js";
import { Alarms } from "./alarms.js";
import { AuditChanges } from "./audit-changes.js";
import { AuditForwards } from "./audit-forwards.js";
import { AuditLog } from "./audit-log.js";
import { BackupArchives } from "./backup-archives.js";
import { BackupRepositories } from "./backup-repositories.js";
import { BalancerPolicies } from "./balancer-policies.js";
import { BalancerRuns } from "./balancer-runs.js";
import { BalancerWatches } from "./balancer-watches.js";
import { CloudConfigs } from "./cloud-configs.js";
import { ClusterServers } from "./cluster-servers.js";
import { Grants } from "./grants.js";
import { Groups } from "./groups.js";
import { OneTimeCalls } from "./one-time-calls.js";
import { OneTimeUses } from "./one-time-uses.js";
import { JobRuns } from "./job-runs.js";
import { Jobs } from "./jobs.js";
import { Leases } from "./leases.js";
import type { RepositoryContext } from "./repository-context.js";
import { PlacementRules } from "./placement-rules.js";
import { Plugins } from "./plugins.js";
import { Privileges } from "./privileges.js";
import { Reservations } from "./reservations.js";
import { RestoreScreenshots } from "./restore-screenshots.js";
import { ResourceSets } from "./resource-sets.js";
import { Roles } from "./roles.js";
import { Schedules } from "./schedules.js";
import { Servers } from "./servers.js";
import { Settings } from "./settings.js";
import { TaskSteps } from "./task-steps.js";
import { SignInAttempts } from "./sign-in-attempts.js";
import { Tasks } from "./tasks.js";
import { TokenUses } from "./token-uses.js";
import { Tokens } from "./tokens.js";
import { Users } from "./users.js";

/** One repository for each kind of data that the store holds. */
export function createRepositories(context: RepositoryContext) {
  const tokenUses = new TokenUses(context);
  const audit = new AuditLog(context);
  const repositories = {
    settings: new Settings(context),
    servers: new Servers(context),
    users: new Users(context),
    groups: new Groups(context),
    tokens: new Tokens(context, tokenUses),
    roles: new Roles(context),
    privileges: new Privileges(context),
    grants: new Grants(context),
    acls: new Acls(context),
    jobs: new Jobs(context),
    schedules: new Schedules(context),
    jobRuns: new JobRuns(context),
    alarmRules: new AlarmRules(context),
    alarms: new Alarms(context),
    alarmNotices: new AlarmNotices(context),
    placementRules: new PlacementRules(context),
    cloudConfigs: new CloudConfigs(context),
    resourceSets: new ResourceSets(context),
    plugins: new Plugins(context),
    balancerPolicies: new BalancerPolicies(context),
    balancerWatches: new BalancerWatches(context),
    balancerRuns: new BalancerRuns(context),
    backupRepositories: new BackupRepositories(context),
    backupArchives: new BackupArchives(context),
    restoreScreenshots: new RestoreScreenshots(context),
    clusterServers: new ClusterServers(context),
    leases: new Leases(context),
    adoptions: new Adoptions(context),
    tasks: new Tasks(context),
    taskSteps: new TaskSteps(context),
    oneTimeUses: new OneTimeUses(context),
    reservations: new Reservations(context),
    signInAttempts: new SignInAttempts(context),
    oneTimeCalls: new OneTimeCalls(context),
    audit,
    auditChanges: new AuditChanges(context, audit),
    auditForwards: new AuditForwards(context),
  };
  return { repositories, tokenUses };
}
