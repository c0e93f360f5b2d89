import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/definition/services.js";
import { TrafficRuleWatch } from "../networks/traffic-rule-watch.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

/** Adds traffic rules again to hosts that have lost them. */
export function startTrafficRules(
  { clock, cluster, objects, store, views }: Core,
  { loggers }: Pick<ServerOptions, "loggers">,
  stops: StopStack,
): Pick<Services, "trafficRules"> {
  const watch = new TrafficRuleWatch({
    objects,
    queries: views.queries,
    settings: store.settings,
    leases: cluster.leases,
    clock,
    logger: loggers.named("xo:networks"),
  });
  watch.start();
  stops.push("traffic rules", () => watch.stop());
  return { trafficRules: watch };
}
