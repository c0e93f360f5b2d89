import type { XoError } from "@xo-server/model";
import type { StoreCosts } from "@xo-server/store";
import type { StartOptions } from "../config/start-options.js";
import type { WriteHeap } from "../diagnostics/heap-snapshots.js";
import type { StartDemoPools } from "../pools/demo.js";
import type { PrepareForPools } from "../pools/live-pools.js";
import type { CreatePool } from "../pools/pools.js";

export interface ServerOptions extends StartOptions {
  readonly startDemoPools?: StartDemoPools;
  /** Directory of the database of a demo; absent: the database is temporary. */
  readonly demoDataDir?: string | undefined;
  /** A missing or empty database is created, also beside files of an earlier start. */
  readonly isNewStore?: boolean;
  /** Default: those of openStore. */
  readonly storeCosts?: StoreCosts;
  /** Default true: a new server has alarm rules. */
  readonly createsDefaultRules?: boolean;
  /** Writes heap snapshots. Default: V8, which takes seconds. */
  readonly writeHeap?: WriteHeap;
  /** When it is aborted, the start is abandoned. */
  readonly signal?: AbortSignal;
  /**
   * Ends the process immediately, because it must not write to the database any
   * more. Default: the error is only logged.
   */
  readonly abandon?: (reason: XoError) => void;
  readonly prepareForPools?: PrepareForPools;
  /** Called when pools begin to be loaded, and when all are. */
  readonly onLoading?: (isLoading: boolean) => void;
  /** Default: connections of xen-api, mirrored by inventory. */
  readonly createPool?: CreatePool;
}
