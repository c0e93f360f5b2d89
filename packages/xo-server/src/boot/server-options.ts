import type { Clock } from "../clock.js";
import type { LoadedConfig } from "../config/load-config.js";
import type { StartDemoPools } from "./demo.js";
import type { Loggers } from "../log/logger.js";
import type { CreatePool } from "../pools/pools.js";

export interface ServerOptions extends LoadedConfig {
  readonly loggers: Loggers;
  /** Profiles of simulated pools, in place of those of the config. */
  readonly demo?: readonly string[] | undefined;
  readonly startDemoPools?: StartDemoPools;
  /** Aborted: whatever is still starting gives up. */
  readonly signal?: AbortSignal;
  /** Default: real ones, of xen-api and inventory. */
  readonly createPool?: CreatePool;
  readonly clock?: Clock;
  /** Where secrets may come from; default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}
