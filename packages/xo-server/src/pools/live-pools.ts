import { wallClock, type WallClock } from "@xo-server/kit";
import type { Inventory } from "@xo-server/inventory";
import {
  createXapi,
  type Decoder,
  type EventRelay,
  type IndirectRoute,
} from "@xo-server/xen-api";
import type { Config } from "../config/config.js";
import { XapiPool } from "./live-pool.js";
import type { Loggers } from "../log/logger.js";
import { PoolConflicts } from "./pool-conflicts.js";
import {
  createVolatilePoolEndpoints,
  openPoolEndpoints,
} from "./pool-endpoints.js";
import { readPassword } from "./pool-password.js";
import type { PoolSettings } from "./pool-settings.js";
import type { CreatePool, LivePool } from "./pools.js";
import { toXapiOptions } from "./xapi-options.js";

/**
 * Called once, before the first pool is connected: starts what a server without pools does not need.
 * @param threadsUp resolves when the threads of the decoder are up
 */
export type PrepareForPools = (threadsUp: Promise<void>) => void;

interface LivePoolsOptions {
  readonly config: Config;
  readonly decoder: Decoder;
  /** Called before a pool is connected: starts the threads of the decoder. Resolves when one is up. */
  readonly warmUp: () => Promise<void>;
  readonly prepareForPools?: PrepareForPools;
  readonly inventory: Inventory;
  /** Passes the events of a pool between servers; absent: there are no others. */
  readonly relayOf?: ((poolId: string) => EventRelay) | undefined;
  /** The way to members of a pool that cannot be reached directly; absent: none. */
  readonly routeOf?: (poolId: string) => IndirectRoute | undefined;
  readonly loggers: Loggers;
  readonly clock?: WallClock;
}

/** Real pools, each with a XAPI client and a mirror. */
export function createLivePools(options: LivePoolsOptions): CreatePool {
  const { inventory, loggers } = options;
  const conflicts = new PoolConflicts(inventory, loggers.named("xo:pools"));
  let isPrepared = false;
  return async (settings) => {
    const threadsUp = options.warmUp();
    if (!isPrepared) options.prepareForPools?.(threadsUp);
    isPrepared = true;
    return openPool(settings, conflicts, options);
  };
}

/** @throws XoError CONFIG_INVALID: there is no password */
async function openPool(
  settings: PoolSettings,
  conflicts: PoolConflicts,
  options: LivePoolsOptions,
): Promise<LivePool> {
  const { config, decoder, inventory, loggers, clock = wallClock } = options;
  const relay = options.relayOf?.(settings.id);
  const route = options.routeOf?.(settings.id);
  const logger = loggers.named("xen-api", { pool: settings.label });
  const password = await readPassword(settings);
  const memory = settings.isKept
    ? await openPoolEndpoints(config.dataDir, settings.id, logger)
    : createVolatilePoolEndpoints();
  const xapi = createXapi(
    toXapiOptions({
      settings,
      password,
      memory,
      config,
      decoder,
      relay,
      route,
      logger,
    }),
  );
  return new XapiPool({
    settings,
    xapi,
    inventory,
    conflicts,
    clock,
    logger,
  });
}
