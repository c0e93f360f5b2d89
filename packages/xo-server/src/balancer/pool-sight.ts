import type { PauseReason } from "./state.js";

/** A host, as far as it matters whether VMs may be moved. */
export interface SeenHost {
  readonly id: string;
  readonly isUp: boolean;
  readonly isEnabled: boolean;
  /** XAPI's names of what is being done to it. */
  readonly operations: readonly string[];
  /** VMs that run there, without the control domain. */
  readonly guests: number;
  /** When it told its latest figures, in ms since the epoch; -Infinity: never. */
  readonly measuredAt: number;
}

/** A pool, at one moment. */
export interface PoolSight {
  readonly isConnected: boolean;
  /** Of a rolling reboot that has not come to its end, in ms since the epoch. */
  readonly rollingSince?: number;
  readonly hosts: readonly SeenHost[];
  /** Ids of VMs that are being moved. */
  readonly moving: readonly string[];
  /** Ids of VMs that are to stay: tagged so, or something is being done to them. */
  readonly staying: readonly string[];
}

/** Figures that are older say nothing, in ms. */
const OLD_MS = 60_000;
/** What ran on a host that failed has started elsewhere after this, or will not, in ms. */
export const RECOVERY_MS = 300_000;
/** Operations of a host that come before, or after, it is down. */
const CHANGES = new Set([
  ...["evacuate", "shutdown", "reboot", "power_on", "apply_updates", "enable"],
]);

/**
 * Why the pool is to be left alone; undefined: it need not be. All of it follows from what is there: nobody
 * puts the balancer aside, and so nobody can forget to put it back.
 * @param failedAt by the id of each host that is down: when that was seen
 */
export function pauseReasonOf(
  sight: PoolSight,
  failedAt: ReadonlyMap<string, number>,
  now: number,
): PauseReason | undefined {
  const { isConnected, rollingSince, hosts, moving } = sight;
  if (!isConnected) return { code: "not-connected" };
  if (rollingSince !== undefined)
    return { code: "rolling-reboot", since: rollingSince };
  const changing = hosts.filter(isChanging).map(({ id }) => id);
  if (changing.length > 0) return { code: "hosts-change", hosts: changing };
  const failed = [...failedAt].filter(([, at]) => now < at + RECOVERY_MS);
  if (failed.length > 0) {
    const until = Math.max(...failed.map(([, at]) => at)) + RECOVERY_MS;
    return { code: "host-failed", hosts: failed.map(([id]) => id), until };
  }
  const silent = hosts
    .filter(({ isUp, measuredAt }) => isUp && now - measuredAt > OLD_MS)
    .map(({ id }) => id);
  if (silent.length > 0) return { code: "no-statistics", hosts: silent };
  return moving.length > 0 ? { code: "others-move", vms: moving } : undefined;
}

/** One that takes no VMs and has some is being emptied, or about to be. */
function isChanging({ isUp, isEnabled, operations, guests }: SeenHost) {
  return (
    operations.some((one) => CHANGES.has(one)) ||
    (isUp && !isEnabled && guests > 0)
  );
}

/** When the figures are from that are the oldest. */
export function measuredAtOf({ hosts }: PoolSight): number {
  const times = hosts.filter(({ isUp }) => isUp).map((one) => one.measuredAt);
  return Math.min(...times);
}
