import type { PauseReason } from "./state.js";

/** State of a host that the decision to migrate VMs depends on. */
export interface ObservedHost {
  readonly id: string;
  readonly isUp: boolean;
  readonly isEnabled: boolean;
  /** XAPI's names of its current operations. */
  readonly operations: readonly string[];
  /** Number of running VMs, without the control domain. */
  readonly vms: number;
  /** Time of its latest metrics, in ms since the epoch; -Infinity: it has none. */
  readonly measuredAt: number;
}

/** State of a pool at one moment. */
export interface PoolObservation {
  readonly isConnected: boolean;
  /** Start of an unfinished rolling reboot, ms since the epoch. */
  readonly rollingSince?: number;
  readonly hosts: readonly ObservedHost[];
  /** Ids of VMs that are being migrated. */
  readonly moving: readonly string[];
  /**
   * Ids of VMs that must not be migrated: with an excluded tag, not running
   * (paused), or with an operation in progress.
   */
  readonly staying: readonly string[];
}

/** Maximum age of metrics that are used, in ms. */
const MAX_AGE_MS = 60_000;
/** Time in which VMs of a failed host restart elsewhere, in ms. */
export const RECOVERY_MS = 300_000;
/** Operations that take a host down or bring it up. */
const CHANGING_OPERATIONS = new Set([
  "evacuate",
  "shutdown",
  "reboot",
  "power_on",
  "apply_updates",
  "enable",
]);

/**
 * Why the pool must not be balanced now; undefined: it may be. Derived from the
 * observed state alone, so that an administrator need not disable the balancer
 * before maintenance and enable it afterwards.
 * @param failedAt time at which a failure was observed, by host id
 */
export function pauseReasonOf(
  observation: PoolObservation,
  failedAt: ReadonlyMap<string, number>,
  now: number,
): PauseReason | undefined {
  const { isConnected, rollingSince, hosts, moving } = observation;
  if (!isConnected) return { code: "not-connected" };
  if (rollingSince !== undefined)
    return { code: "rolling-reboot", since: rollingSince };
  const changing = hosts.filter(isChanging).map(({ id }) => id);
  if (changing.length > 0) return { code: "host-maintenance", hosts: changing };
  const failed = [...failedAt].filter(([, at]) => now < at + RECOVERY_MS);
  if (failed.length > 0) {
    const until = Math.max(...failed.map(([, at]) => at)) + RECOVERY_MS;
    return { code: "host-failed", hosts: failed.map(([id]) => id), until };
  }
  const silent = hosts
    .filter(({ isUp, measuredAt }) => isUp && now - measuredAt > MAX_AGE_MS)
    .map(({ id }) => id);
  if (silent.length > 0) return { code: "no-statistics", hosts: silent };
  return moving.length > 0
    ? { code: "other-migrations", vms: moving }
    : undefined;
}

/** A disabled host with running VMs is being evacuated, or about to be. */
function isChanging({
  isUp,
  isEnabled,
  operations,
  vms: guests,
}: ObservedHost) {
  return (
    operations.some((one) => CHANGING_OPERATIONS.has(one)) ||
    (isUp && !isEnabled && guests > 0)
  );
}

/** Time of the latest metrics of the host whose metrics are oldest. */
export function measuredAtOf({ hosts }: PoolObservation): number {
  const times = hosts.filter(({ isUp }) => isUp).map((one) => one.measuredAt);
  return Math.min(...times);
}
