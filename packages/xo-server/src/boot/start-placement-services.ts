import { startBalancer } from "../balancer/start-balancer.js";
import { RollingRecords } from "../rolling/rolling-records.js";
import { WavePlanner } from "../rolling/wave-planner.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/definition/services.js";
import { EvacuationPlanner } from "../placement/evacuations.js";
import { PlacementService } from "../placement/placement-service.js";
import { StartHostSelector } from "../placement/start-host-selector.js";
import { startStats, type Stats } from "../stats/start-stats.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

interface PlacementServices {
  readonly placing: Pick<
    Services,
    | "placement"
    | "startHosts"
    | "evacuations"
    | "balancer"
    | "rollingRecords"
    | "wavePlanner"
    | "hostStats"
    | "objectStats"
  >;
  readonly stats: Stats;
}

/** Statistics of hosts, and which host runs which VM. */
export function startPlacementServices(
  core: Core,
  { tasks, activity }: Pick<Services, "tasks" | "activity">,
  options: ServerOptions,
  stops: StopStack,
): PlacementServices {
  const { clock, store, cluster, audit, inventory, objects, pools, views } =
    core;
  const { catalog, queries } = views;
  const { loggers } = options;
  const stats = startStats(
    core.parser,
    { inventory, objects: views, poolObjects: objects, pools },
    options,
    stops,
  );
  const placement = new PlacementService({
    inventory,
    store,
    clock,
    poolObjects: objects,
    queries,
  });
  stops.push("placement", () => placement.stop());
  const balancer = startBalancer({
    clock,
    logger: loggers.named("xo:api"),
    stops,
    store,
    tasks,
    stats,
    placement,
    catalog,
    inventory,
    objects,
    pools,
    audit,
    cluster,
    recorder: activity,
  });
  const placing = {
    placement,
    startHosts: new StartHostSelector({ placement, objects, inventory }),
    evacuations: new EvacuationPlanner({
      placement,
      objects,
      inventory,
      clock,
    }),
    balancer,
    rollingRecords: new RollingRecords(store.settings),
    wavePlanner: new WavePlanner({ placement, objects, inventory }),
    hostStats: stats.hosts,
    objectStats: stats.objects,
  };
  return { placing, stats };
}
