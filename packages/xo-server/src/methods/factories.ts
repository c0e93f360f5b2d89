import { probeHost } from "@xo-server/xen-api";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { HandlerContext, Operation } from "../operations/operation.js";
import { xapiGroupsOf } from "../placement/xapi-groups.js";
import { namedPools } from "../pools/named-pools.js";
import type { Services } from "./services.js";
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
import { taskMethods } from "./task.js";
import { taskListMethods } from "./task-list.js";
import { transferMethods } from "./transfer.js";
import { xoMethods } from "./xo.js";

type AnyOperation = Operation<Services>;

/**
 * Operations that are still created by factories, which close over services.
 * Temporary: each file of methods/ becomes constants in `all.ts`.
 */
export function factoryOperations(s: Services): AnyOperation[] {
  const { store, clock, queries, inventory, catalog } = s;
  const auth = {
    users: s.users,
    signIn: s.signIn,
    sessions: s.sessions,
    tickets: s.tickets,
  };
  const listPools = () => s.pools.list();
  const independent = [
    ...statusMethods(s.statusFeed),
    ...serverMethods({
      servers: store.servers,
      stored: s.storedPools,
      listPools,
      isDemo: (id) => s.demoPools.has(id),
      namedPools: () => namedPools({ catalog, queries }),
    }),
    ...serverProbeMethods((options) => s.hostProber.probe(options)),
    ...firstRunMethods({
      demoPools: s.demoPools,
      pools: s.pools,
      servers: store.servers,
    }),
    ...xoMethods({
      listing: s.objectListing,
      notices: s.objectNotices,
      paths: s.oneTimePaths,
    }),
    ...configurationMethods(store, s.oneTimePaths),
    ...auditMethods(store),
    ...pluginMethods(s.plugins),
    ...alarmRuleMethods({ store, catalog, alarms: s.alarms }),
    ...alarmMethods({ store, catalog, listeners: s.alarmListeners }),
    ...activityMethods({
      activity: s.activity,
      listeners: s.activityListeners,
    }),
    ...jobMethods(s.jobs, store),
    ...scheduleMethods(s.jobs),
    ...backupMethods(),
    ...peopleMethods(store, auth, s.totpEnrollments),
    ...resourceSetMethods(store, s.resourceSets),
    ...cloudConfigMethods(store),
    ...poolMethods(listPools),
    ...queryMethods(queries, s.liveReaders),
    ...rawRecordMethods({ catalog, inventory }),
    ...balancerMethods({ balancer: s.balancer, catalog }),
    ...placementRuleMethods({
      store,
      objects: s.objects,
      pools: () => Array.from(inventory.list("pool"), ({ uuid }) => uuid ?? ""),
      xapiGroups: (pool) =>
        xapiGroupsOf(inventory, s.objects.connectionOf(pool) ?? ""),
    }),
    ...taskListMethods(s.tasks, s.taskSubscriptions),
    ...bulkMethods({ tasks: s.tasks, people: s.users, queries }),
  ];
  return [
    ...(independent as AnyOperation[]),
    ...perTask(s, (objects) =>
      objectMethods(objects, { sets: s.resourceSets, tasks: s.tasks }),
    ),
    ...perTask(s, (objects) =>
      transferMethods({ objects, transfers: s.transfers }),
    ),
    ...perTask(s, (objects) =>
      hostAndPoolMethods({
        objects,
        queries,
        inventory,
        stats: s.objectStats,
        clock,
        settings: store.settings,
        plans: s.rollingPlans,
        doors: s.poolDoors,
        evacuations: s.evacuations,
        patches: s.missingPatches,
        dashboards: s.dashboards,
        cache: s.dashboardCache,
      }),
    ),
    ...perTask(s, (objects) =>
      placementMethods({
        placement: s.placement,
        objects,
        clock,
        policyOf: (pool) => s.balancer.planPolicyOf(pool),
      }),
    ),
    ...perTask(s, (objects) => taskMethods(objects, s.tasks)),
  ];
}

/** Gives handlers of a factory the objects of their call. */
function perTask(
  { objects }: Services,
  build: (objects: PoolObjects) => Operation[],
): AnyOperation[] {
  const own = ({ name }: AnyOperation, context: HandlerContext) =>
    build(context.objects).find((one) => one.name === name) as AnyOperation;
  return (build(objects) as AnyOperation[]).map((operation) => ({
    ...operation,
    handler: (params: never, context: HandlerContext<Services>) =>
      own(operation, context).handler(params, context),
    ...(operation.resume === undefined
      ? {}
      : {
          resume: (state, context, interrupted) =>
            own(operation, context).resume!(state, context, interrupted),
        }),
  }));
}
