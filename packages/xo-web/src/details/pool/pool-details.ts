import type { Pool } from "../../objects/infrastructure.js";
import type { TextMap } from "../../api/object-row.js";

/** Properties that only the page of a pool uses. */
export type PoolDetails = Pool & {
  readonly haSrs: readonly string[];
  readonly haRebootVmOnInternalShutdown: boolean;
  readonly migrationCompression: boolean;
  readonly otherConfig: TextMap;
  readonly platform_version?: string;
  readonly suspendSr?: string;
  readonly crashDumpSr?: string;
};

export interface HaState {
  readonly enabled: boolean;
  readonly heartbeatSrs: readonly string[];
  readonly hostFailuresToTolerate: number;
  /** null: the pool did not compute it in time. */
  readonly mostHostFailures: number | null;
  readonly planExistsFor: number;
  readonly overcommitted: boolean;
}
