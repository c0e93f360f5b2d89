import type { Inventory } from "@xo-server/inventory";
import { systemClock, type Clock } from "../clock.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Parser } from "../parser.js";
import { HostStats } from "./host-stats.js";
import { ObjectStats } from "./object-stats.js";

/** What hosts measure; nothing is asked of them before somebody wants to know. */
export interface Stats {
  readonly hosts: HostStats;
  readonly objects: ObjectStats;
}

export function startStats(
  { xports }: Pick<Parser, "xports">,
  sources: { readonly inventory: Inventory; readonly objects: PoolObjects },
  { clock = systemClock }: { readonly clock?: Clock },
): Stats {
  const hosts = new HostStats({ ...sources, parser: xports, clock });
  return { hosts, objects: new ObjectStats({ ...sources, hosts }) };
}
