import type { WallClock } from "@xo-server/kit";
import type { Loggers } from "../log/logger.js";
import type { LoadedConfig } from "./load-config.js";

/** Options that every part of the server is started with. */
export interface StartOptions extends LoadedConfig {
  readonly loggers: Loggers;
  /** Profiles of simulated pools, in place of the pools of the config. */
  readonly demo?: readonly string[] | undefined;
  /** Default: the clock of the database with PostgreSQL, otherwise that of the system. */
  readonly clock?: WallClock;
  /** Environment variables, of which some contain secrets. Default: those of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}
