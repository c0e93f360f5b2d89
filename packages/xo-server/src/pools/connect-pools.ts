import type { StartOptions } from "../config/start-options.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { DemoPools } from "./demo-pools.js";
import { toPoolSettings } from "./pool-settings.js";
import type { Pools } from "./pools.js";

/** Starts the connections without waiting for them: an unreachable pool does not delay the server. */
export async function connectPools(
  { pools, demoPools }: { pools: Pools; demoPools: DemoPools },
  { config, demo }: StartOptions,
  stops: StopStack,
): Promise<void> {
  stops.push("demo", () => demoPools.stop());
  stops.push("pools", () => pools.stop());
  if (demo === undefined) pools.connect(toPoolSettings(config.pools));
  else await demoPools.open(demo);
}
