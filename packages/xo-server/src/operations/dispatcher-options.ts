import type { Logger } from "../log/logger.js";
import type { PoolObjects } from "../objects/pool-objects.js";
import type { Tracer } from "../telemetry/tracer.js";
import type { ActivityRecorder } from "./activity-recorder.js";
import type { Audit } from "./audit.js";
import type { StoredByOthers } from "./stored-by-others.js";

/** @typeParam S the services that handlers work with */
export interface DispatcherOptions<S> {
  readonly services: S;
  /** Objects of all pools, without a task. */
  readonly objects: PoolObjects;
  readonly logger: Logger;
  /** Default: changes are not audited. */
  readonly audit?: Audit;
  /** Default: changes are not recorded. */
  readonly activity?: ActivityRecorder;
  /** Resolves when the mirror shows these pools as they are now. Default: immediately. */
  readonly catchUp?: (pools: ReadonlySet<string>) => Promise<unknown>;
  /** See Pools. Default: no call has to wait for its pools. */
  readonly untilConnecting?: (
    pools: () => ReadonlySet<string>,
  ) => Promise<void> | undefined;
  /** Default: no other server stores anything. */
  readonly stored?: StoredByOthers | undefined;
  /** Default: no traces. */
  readonly tracer?: Tracer | undefined;
}
