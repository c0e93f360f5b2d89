import type { Inventory } from "@xo-server/inventory";
import type { Store } from "@xo-server/store";
import { probeHost } from "@xo-server/xen-api";
import type { Parser } from "../boot/parser.js";
import type { Balancer } from "../balancer/balancer.js";
import type { Clock } from "../clock.js";
import type { OneTimePaths } from "../transfers/one-time-paths.js";
import type { Jobs } from "../jobs/jobs.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Objects } from "../objects/start-objects.js";
import type { Dispatcher } from "../operations/dispatcher.js";
import type { Operation } from "../operations/operation.js";
import type { AuthService } from "../auth/start-auth.js";
import type { Placement } from "../placement/placement.js";
import { Evacuations } from "../placement/evacuations.js";
import { StartHosts } from "../placement/start-hosts.js";
import { xapiGroupsOf } from "../placement/xapi-groups.js";
import type { Plugins } from "../plugins/plugins.js";
import { namedPools } from "../pools/named-pools.js";
import { PoolDoors } from "../pools/pool-doors.js";
import type { DemoPools } from "../pools/demo-pools.js";
import type { Pools } from "../pools/pools.js";
import type { StoredPools } from "../pools/stored-pools.js";
import type { ResourceSets } from "../resource-sets/resource-sets.js";
import type { Stats } from "../stats/start-stats.js";
import type { PerformanceRing } from "../status/performance-ring.js";
import type { Status } from "../status/status.js";
import type { StatusFeed } from "../status/status-feed.js";
import type { Tasks } from "../tasks/tasks.js";
import type { Transfers } from "../transfers/transfers.js";
import { version } from "../config/version.js";
import type { StartedActivity } from "../activity/start-activity.js";
import type { StartedAlarms } from "../alarms/start-alarms.js";
import type { TaskSubscriptions } from "../tasks/task-subscriptions.js";
import { activityMethods } from "./activity.js";
import { alarmMethods } from "./alarm.js";
import { alarmRuleMethods } from "./alarm-rule.js";
import { auditMethods } from "./audit.js";
import { backupMethods } from "./backup.js";
import { balancerMethods } from "./balancer.js";
import { bulkMethods } from "./bulk.js";
import { cloudConfigMethods } from "./cloud-config.js";
import { configurationMethods } from "./configuration.js";
import { firstRunMethods } from "./first-run.js";
import { hostAndPoolMethods } from "./hosts-and-pools.js";
import { jobMethods } from "./job.js";
import { objectMethods } from "./objects.js";
import { peopleMethods } from "./people.js";
import { placementMethods } from "./placement.js";
import { placementRuleMethods } from "./placement-rule.js";
import { pluginMethods } from "./plugin.js";
import { poolMethods } from "./pool.js";
import { queryMethods } from "./query.js";
import { rawRecordMethods } from "./raw-record.js";
import { resourceSetMethods } from "./resource-set.js";
import { scheduleMethods } from "./schedule.js";
import { serverMethods } from "./server.js";
import { serverProbeMethods } from "./server-probe.js";
import { statusMethods } from "./status.js";
import { systemMethods } from "./system.js";
import { taskMethods } from "./task.js";
import { taskListMethods } from "./task-list.js";
import { transferMethods } from "./transfer.js";
import { xoMethods } from "./xo.js";

/** What operations are done with. */
export interface MethodParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly reception: AuthService;
  readonly readStatus: () => Status;
  readonly statusFeed: StatusFeed;
  readonly performance: PerformanceRing;
  readonly paths: OneTimePaths;
  readonly inventory: Inventory;
  readonly objects: Objects;
  readonly poolObjects: PoolObjects;
  readonly pools: Pools;
  readonly parser: Pick<Parser, "decoder">;
  readonly demoPools: DemoPools;
  readonly stored: StoredPools;
  readonly stats: Stats;
  readonly sets: ResourceSets;
  readonly placement: Placement;
  readonly balancer: Balancer;
  readonly plugins: Plugins;
  readonly transfers: Transfers;
  readonly tasks: Tasks;
  readonly alarms: StartedAlarms;
  readonly activity: StartedActivity;
  readonly taskSubscriptions: TaskSubscriptions;
  readonly jobs: Jobs;
  /** For operations that are made of others. */
  readonly call: Dispatcher["call"];
  readonly resume: Dispatcher["resume"];
}

/** Every operation that there is. */
export function allMethods(parts: MethodParts): readonly Operation[] {
  const operations: readonly Operation[] = [
    ...ofServer(parts, () => operations),
    ...ofPeople(parts),
    ...ofPools(parts),
    ...bulkMethods({
      call: parts.call,
      resume: parts.resume,
      tasks: parts.tasks,
      operations: () => operations,
      people: parts.reception.users,
      queries: parts.objects.queries,
    }),
  ];
  return operations;
}

/** About the server itself, and what it keeps. */
function ofServer(
  parts: MethodParts,
  operations: () => readonly Operation[],
): Operation[] {
  const { store, readStatus, statusFeed, paths, objects, pools } = parts;
  const { servers } = store;
  return [
    ...systemMethods({ ...parts, version, readStatus, operations }),
    ...statusMethods(statusFeed),
    ...serverMethods({
      servers,
      stored: parts.stored,
      listPools: () => pools.list(),
      isDemo: (id) => parts.demoPools.has(id),
      namedPools: () => namedPools(objects),
    }),
    ...serverProbeMethods((options) =>
      probeHost({ ...options, decoder: parts.parser.decoder }),
    ),
    ...firstRunMethods({ ...parts, servers }),
    ...xoMethods({ ...objects, paths }),
    ...configurationMethods(store, paths),
    ...auditMethods(store),
    ...pluginMethods(parts.plugins),
    ...alarmRuleMethods({ store, ...objects, ...parts.alarms }),
    ...alarmMethods({ store, ...objects, ...parts.alarms }),
    ...activityMethods(parts.activity),
    ...jobMethods(parts.jobs, store),
    ...scheduleMethods(parts.jobs),
    ...backupMethods(),
  ];
}

/** About who may do what, with how much. */
function ofPeople({ store, reception, clock, sets }: MethodParts): Operation[] {
  return [
    ...peopleMethods(store, reception, clock),
    ...resourceSetMethods(store, sets),
    ...cloudConfigMethods(store),
  ];
}

function startHosts({
  placement,
  poolObjects: objects,
  inventory,
}: MethodParts): StartHosts {
  return new StartHosts({ placement, objects, inventory });
}

/** About pools and what is in them. */
function ofPools(parts: MethodParts): Operation[] {
  const { clock, inventory, objects, poolObjects, pools, stats } = parts;
  const { queries, readers } = objects;
  const listPools = () => pools.list();
  return [
    ...poolMethods(listPools),
    ...queryMethods(queries, readers),
    ...rawRecordMethods({ catalog: objects.catalog, inventory }),
    ...objectMethods(poolObjects, { ...parts, starts: startHosts(parts) }),
    ...transferMethods({ objects: poolObjects, transfers: parts.transfers }),
    ...hostAndPoolMethods({
      queries,
      inventory,
      stats,
      clock,
      listPools,
      settings: parts.store.settings,
      doors: new PoolDoors({ ...parts, servers: parts.store.servers }),
      objects: poolObjects,
      evacuations: new Evacuations({ ...parts, objects: poolObjects }),
    }),
    ...placementMethods({
      placement: parts.placement,
      objects: poolObjects,
      clock,
      policyOf: (pool) => parts.balancer.planPolicyOf(pool),
    }),
    ...balancerMethods({ balancer: parts.balancer, ...objects }),
    ...placementRuleMethods({
      store: parts.store,
      objects: poolObjects,
      pools: () => Array.from(inventory.list("pool"), ({ uuid }) => uuid ?? ""),
      xapiGroups: (pool) =>
        xapiGroupsOf(inventory, poolObjects.connectionOf(pool) ?? ""),
    }),
    ...taskMethods(poolObjects, parts.tasks),
    ...taskListMethods(parts.tasks, parts.taskSubscriptions),
  ];
}
