import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { SuspendedSettings } from "../hosts/suspended-settings.js";
import type { Windows } from "../schedules/window-shape.js";
import { isNoSuchObject } from "../objects/no-such-object.js";
import { guestIdsOf } from "../hosts/guests.js";

export interface RollingOptions {
  /** What is done to each host; an update ends with a reboot. Absent in records of earlier versions: reboot. */
  readonly kind?: "reboot" | "update";
  /** VMs that cannot be moved are shut down, and started again on their host. */
  readonly shutdownPinnedVms: boolean;
  /** At the end VMs are moved to the hosts that they were on. Absent in records of earlier versions: true. */
  readonly migrateBack?: boolean;
  /** Maximum number of hosts that are down at the same time. Absent: 1. */
  readonly parallel?: number;
  /** When steps may be begun. Absent: at any time. */
  readonly windows?: Windows;
}

/** One host's turn, as the host was before anything was done. */
export interface Turn {
  readonly host: string;
  /** Of its last start, in s: another one means that it has been rebooted. */
  readonly startTime: number | null;
  /** Ids of VMs that ran there. */
  readonly guests: readonly string[];
  /** Ids of PBDs that were attached. */
  readonly pbds?: readonly string[];
  /** Of an update: ids of the updates that the host lacks. */
  readonly updates?: readonly string[];
  /** Version of XAPI that it has to run after the update, if that is known. */
  readonly xapiBuild?: string;
}

/** Hosts that were taken down together. Times in ms since the epoch. */
export interface WaveRecord {
  readonly hosts: readonly string[];
  readonly startedAt: number;
  /** All VMs had left. */
  readonly emptyAt: number;
  readonly endedAt: number;
  readonly moves: number;
}

/** Why a run is suspended between two steps. Times in ms since the epoch. */
export interface Suspension {
  readonly since: number;
  /** The next maintenance window. Absent: suspended by a user. */
  readonly until?: number;
}

/** The persisted state of a rolling reboot or update. JSON. */
export interface RollingRecord extends RollingOptions {
  readonly pool: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly turns: readonly Turn[];
  /** Ids of hosts that are back and verified. Absent in records of earlier versions. */
  readonly completed?: readonly string[];
  readonly waves?: readonly WaveRecord[];
  /** Ids of VMs that were shut down and are to be started, by host. */
  readonly shutDown: Readonly<Record<string, readonly string[]>>;
  /** Settings to restore at the end. */
  readonly suspended: SuspendedSettings;
  /** Host failures to survive while several hosts are down. */
  readonly failures?: number;
  /** Why it ended before its end. */
  readonly stopped?: string;
  /** Meanwhile HA and all else is as before the run. */
  readonly suspension?: Suspension;
  /** Id of the task that clients follow and cancel. */
  readonly task?: string;
}

/** @throws XoError INCORRECT_STATE: a host takes no guests, or is down */
export function makeRecord(
  pool: PoolObject,
  hosts: readonly PoolObject[],
  options: RollingOptions,
  objects: PoolObjects,
): Omit<RollingRecord, "since"> {
  for (const host of hosts) {
    checkIs(host, "power_state", "Running");
    checkIs(host, "enabled", true);
  }
  return {
    pool: pool.id,
    ...options,
    shutDown: {},
    suspended: {},
    completed: [],
    waves: [],
    turns: hosts.map((host) => ({
      host: host.id,
      guests: guestIdsOf(host),
      startTime: host.object["startTime"] as number | null,
      pbds: attachedPbds(host, objects),
    })),
  };
}

/** Ids of the PBDs of a host that are plugged. */
export function attachedPbds(
  { object }: PoolObject,
  objects: PoolObjects,
): string[] {
  const pbds = (object["$PBDs"] ?? []) as readonly string[];
  return pbds.filter((pbd) => objects.find(pbd)?.object["attached"] === true);
}

/** Turns that have not been completed. A host that has left the pool has none. */
export function turnsLeft(
  { turns, completed }: RollingRecord,
  objects: PoolObjects,
): Turn[] {
  return turns.filter(({ host, startTime }) => {
    try {
      const { object } = objects.get(host, "host");
      if (completed !== undefined) return !completed.includes(host);
      const { enabled, power_state } = object;
      const isUp = power_state === "Running" && enabled === true;
      return !isUp || object["startTime"] === startTime;
    } catch (error) {
      if (isNoSuchObject(error)) return false;
      throw error;
    }
  });
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
