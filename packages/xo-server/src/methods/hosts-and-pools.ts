import type { Inventory, Queries } from "@xo-server/inventory";
import type { Clock } from "../clock.js";
import type { Dashboards } from "../dashboard/dashboards.js";
import type { LeaveParts } from "../hosts/empty-host.js";
import type { MissingPatches } from "../hosts/missing-patches.js";
import type { RollingPlans } from "../hosts/rolling-plans.js";
import type { Remembered } from "../dashboard/remembered.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { PoolDoors } from "../pools/pool-doors.js";
import type { Operation } from "../operations/operation.js";
import type { ObjectStats } from "../stats/object-stats.js";
import { dashboardMethods } from "./dashboard.js";
import { hostHealthMethods } from "./host-health.js";
import { patchMethods, type HostsOf } from "./host-patches.js";
import { hostPowerMethods } from "./host-power.js";
import { hostMethods } from "./host.js";
import { poolHaMethods } from "./pool-ha.js";
import { poolMemberMethods } from "./pool-members.js";
import { poolPowerMethods } from "./pool-power.js";
import { poolSettingsMethods } from "./pool-settings.js";
import { srCareMethods } from "./sr-care.js";
import { tagColorMethods, type TagStore } from "./tag.js";
import { statsMethods } from "./stats.js";

export interface HostAndPoolOptions {
  readonly objects: PoolObjects;
  readonly queries: Pick<Queries, "group" | "page">;
  readonly inventory: Pick<Inventory, "runInSlices">;
  readonly stats: ObjectStats;
  readonly settings: TagStore;
  readonly plans: RollingPlans;
  readonly doors: PoolDoors;
  readonly clock: Clock;
  readonly evacuations: LeaveParts["evacuations"];
  readonly patches: MissingPatches;
  readonly dashboards: Dashboards;
  readonly cache: Remembered;
}

/** What is done to hosts and pools, and what they tell. */
export function hostAndPoolMethods(options: HostAndPoolOptions): Operation[] {
  const { objects, queries, stats, clock, evacuations } = options;
  const { patches, dashboards, cache, plans } = options;
  const hostsOf = createHostsOf(queries);
  return [
    ...hostMethods(objects),
    ...hostPowerMethods(objects, clock, evacuations),
    ...hostHealthMethods(objects, clock),
    ...patchMethods({ objects, patches, hostsOf }),
    ...poolSettingsMethods(objects),
    ...poolHaMethods({ objects, hostsOf }),
    ...srCareMethods(options),
    ...tagColorMethods(options.settings),
    ...poolMemberMethods({ objects, hostsOf, clock, doors: options.doors }),
    ...poolPowerMethods({ objects, hostsOf, plans, clock, evacuations }),
    ...statsMethods({ stats, objects, hostsOf }),
    ...dashboardMethods(dashboards, cache),
  ];
}

export function createHostsOf(queries: Pick<Queries, "page">): HostsOf {
  return async (pool, where) => {
    const filter = `$pool:"${pool}"`;
    const { ids } = await queries.page({
      type: "host",
      filter,
      ...(where === undefined ? {} : { where }),
    });
    return ids;
  };
}
