import type { Inventory, Queries } from "@xo-server/inventory";
import { systemClock, type Clock } from "../clock.js";
import { Dashboards } from "../dashboard/dashboards.js";
import type { LeaveParts } from "../hosts/empty-host.js";
import { MissingPatches } from "../hosts/missing-patches.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { PoolDoors } from "../pools/pool-doors.js";
import type { Operation } from "../operations/operation.js";
import type { Stats } from "../stats/start-stats.js";
import type { PoolStatus } from "../status/status.js";
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
  readonly stats: Stats;
  readonly listPools: () => readonly PoolStatus[];
  readonly settings: TagStore;
  readonly doors: PoolDoors;
  readonly clock?: Clock | undefined;
  readonly evacuations?: LeaveParts["evacuations"];
}

/** What is done to hosts and pools, and what they tell. */
export function hostAndPoolMethods(options: HostAndPoolOptions): Operation[] {
  const { objects, queries, stats, clock = systemClock } = options;
  const { evacuations } = options;
  const hostsOf = createHostsOf(queries);
  const patches = new MissingPatches(clock);
  const dashboards = new Dashboards({
    ...options,
    patches,
    clock,
    stats: stats.hosts,
  });
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
    ...poolPowerMethods({
      objects,
      hostsOf,
      settings: options.settings,
      clock,
      evacuations,
    }),
    ...statsMethods({ stats: stats.objects, objects, hostsOf }),
    ...dashboardMethods(dashboards, clock),
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
