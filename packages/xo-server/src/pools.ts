import type { Logger } from "./logger.js";
import type { PoolSettings } from "./pool-settings.js";
import type { PoolStatus } from "./status.js";

/** A pool that is being followed, or tried to be. */
export interface LivePool {
  status(): PoolStatus;
  /** Logs out. Never later than a few seconds, whatever the pool does. */
  stop(): Promise<void>;
}

/** Returns at once; what goes wrong later is the pool's own business and shows in its status. */
export type CreatePool = (settings: PoolSettings) => LivePool;

export interface PoolsOptions {
  readonly createPool: CreatePool;
  readonly logger: Logger;
}

/** All pools; one that fails never disturbs the others. */
export interface Pools {
  connect(settings: readonly PoolSettings[]): void;
  list(): PoolStatus[];
  stop(): Promise<void>;
}

export function createPools({ createPool, logger }: PoolsOptions): Pools {
  const pools = new Map<string, LivePool>();
  return {
    connect(all) {
      for (const settings of all) pools.set(settings.id, createPool(settings));
    },
    list: () => [...pools.values()].map((pool) => pool.status()),
    async stop() {
      const stopped = await Promise.allSettled(
        [...pools.values()].map((pool) => pool.stop()),
      );
      for (const one of stopped) {
        if (one.status === "rejected")
          logger.warn("a pool did not let go cleanly", {
            error: one.reason as unknown,
          });
      }
    },
  };
}
