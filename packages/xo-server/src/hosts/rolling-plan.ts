import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { SuspendedSettings } from "./suspended-settings.js";
import { guestIdsOf } from "./guests.js";

export interface RollingOptions {
  /** VMs that cannot be moved are shut down, and started again on their host. */
  readonly shutdownPinnedVms: boolean;
}

/** One host's turn, as the hosts were before anything was done. */
export interface Turn {
  readonly host: string;
  /** Of its last start, in s: another one means that it has been rebooted. */
  readonly startTime: number | null;
  /** Ids of VMs that ran there. */
  readonly guests: readonly string[];
}

/** The persisted plan of a rolling reboot. JSON. */
export interface RollingPlan extends RollingOptions {
  readonly pool: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** In their order: the coordinator first. */
  readonly turns: readonly Turn[];
  /** Ids of VMs that were shut down and are to be started, by host. */
  readonly shutDown: Readonly<Record<string, readonly string[]>>;
  /** Settings to restore at the end. The name is persisted: plans of earlier versions have it. */
  readonly aside: SuspendedSettings;
  /** Why it ended before its end. */
  readonly stopped?: string;
}

/** @throws XoError INCORRECT_STATE: a host takes no guests, or is down */
export function makePlan(
  pool: PoolObject,
  hosts: readonly PoolObject[],
  options: RollingOptions,
): Omit<RollingPlan, "since"> {
  for (const host of hosts) {
    checkIs(host, "power_state", "Running");
    checkIs(host, "enabled", true);
  }
  const isMaster = ({ id }: PoolObject) => id === pool.object["master"];
  const ordered = [
    ...hosts.filter(isMaster),
    ...hosts.filter((host) => !isMaster(host)),
  ];
  return {
    pool: pool.id,
    ...options,
    shutDown: {},
    aside: {},
    turns: ordered.map((host) => ({
      host: host.id,
      guests: guestIdsOf(host),
      startTime: host.object["startTime"] as number | null,
    })),
  };
}

/** Turns that are still to come: those of hosts that have not started since, or take no guests yet. A host that has left the pool has none. */
export function turnsLeft(plan: RollingPlan, objects: PoolObjects): Turn[] {
  return plan.turns.filter(({ host, startTime }) => {
    try {
      const { object } = objects.get(host, "host");
      const { enabled, power_state } = object;
      const isUp = power_state === "Running" && enabled === true;
      return !isUp || object["startTime"] === startTime;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  });
}

export function isGone(error: unknown): boolean {
  return error instanceof XoError && error.code === "NO_SUCH_OBJECT";
}

function checkIs(one: PoolObject, property: string, expected: unknown): void {
  const actual = one.object[property];
  if (actual !== expected)
    throw new XoError("INCORRECT_STATE", {
      object: one.id,
      property,
      actual,
      expected,
    });
}
