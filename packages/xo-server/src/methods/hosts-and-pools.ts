import type { Queries } from "@xo-server/inventory";
import { systemClock, type Clock } from "../clock.js";
import { MissingPatches } from "../hosts/missing-patches.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Operation } from "../operations/operation.js";
import type { ObjectStats } from "../stats/object-stats.js";
import { hostHealthMethods } from "./host-health.js";
import { patchMethods, type HostsOf } from "./host-patches.js";
import { hostPowerMethods } from "./host-power.js";
import { hostMethods } from "./host.js";
import { poolPowerMethods } from "./pool-power.js";
import { poolSettingsMethods } from "./pool-settings.js";
import { statsMethods } from "./stats.js";

export interface HostAndPoolOptions {
  readonly objects: PoolObjects;
  readonly queries: Pick<Queries, "page">;
  readonly stats: ObjectStats;
  readonly clock?: Clock | undefined;
}

/** What is done to hosts and pools, and what they tell. */
export function hostAndPoolMethods({
  objects,
  queries,
  stats,
  clock = systemClock,
}: HostAndPoolOptions): Operation[] {
  const hostsOf = createHostsOf(queries);
  const patches = new MissingPatches(clock);
  return [
    ...hostMethods(objects),
    ...hostPowerMethods(objects, clock),
    ...hostHealthMethods(objects, clock),
    ...patchMethods({ objects, patches, hostsOf }),
    ...poolSettingsMethods(objects),
    ...poolPowerMethods({ objects, hostsOf, clock }),
    ...statsMethods({ stats, objects, hostsOf }),
  ];
}

export function createHostsOf(queries: Pick<Queries, "page">): HostsOf {
  return async (pool, where) => {
    const filter = `$pool:"${pool}"`;
    const { ids } = await queries.page({
      ...{ type: "host", filter },
      ...(where === undefined ? {} : { where }),
    });
    return ids;
  };
}
