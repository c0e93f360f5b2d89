import { XoError } from "@xo-server/model";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { SuspendedSettings } from "../hosts/suspended-settings.js";
import type { Windows } from "../schedules/window-shape.js";
import { isNoSuchObject } from "../objects/no-such-object.js";
import { guestIdsOf } from "../hosts/guests.js";

export interface RollingOptions {
  /**
   * Kind of the run; an update ends with a reboot of each host. Absent in records
   * of earlier versions: reboot.
   */
  readonly kind?: "reboot" | "update";
  /** Whether VMs that cannot be migrated are shut down, and started again on their host. */
  readonly shutdownPinnedVms: boolean;
  /**
   * Whether VMs are migrated back to their hosts at the end. Absent in records of
   * earlier versions: true.
   */
  readonly migrateBack?: boolean;
  /** Maximum number of hosts that are down at the same time. Absent: 1. */
  readonly parallel?: number;
  /** Maintenance windows in which steps may be started. Absent: at any time. */
  readonly windows?: Windows;
}

/** The turn of one host, with the state of the host before the run. */
export interface Turn {
  readonly host: string;
  /** Time of its last start, in s; a later one means that it has been rebooted. */
  readonly startTime: number | null;
  /** Ids of the VMs that were running on the host. */
  readonly guests: readonly string[];
  /** Ids of the PBDs that were plugged. */
  readonly pbds?: readonly string[];
  /** In an update: ids of the updates that the host lacks. */
  readonly updates?: readonly string[];
  /** Version of XAPI that must run after the update, if it is known. */
  readonly xapiBuild?: string;
}

/** Hosts that were taken down together. Times in ms since the epoch. */
interface WaveRecord {
  readonly hosts: readonly string[];
  readonly startedAt: number;
  /** When all VMs were migrated away. */
  readonly emptyAt: number;
  readonly endedAt: number;
  readonly moves: number;
}

/** Why a run is suspended between two steps. Times in ms since the epoch. */
interface Suspension {
  readonly since: number;
  /** Start of the next maintenance window. Absent: a user has suspended the run. */
  readonly until?: number;
}

/** The persisted state of a rolling reboot or update. JSON. */
export interface RollingRecord extends RollingOptions {
  readonly pool: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly turns: readonly Turn[];
  /** Ids of hosts that have been rebooted and verified. Absent in records of earlier versions. */
  readonly completed?: readonly string[];
  readonly waves?: readonly WaveRecord[];
  /** Ids of VMs that were shut down and must be started, by host. */
  readonly shutDown: Readonly<Record<string, readonly string[]>>;
  /** Settings to restore at the end. */
  readonly suspended: SuspendedSettings;
  /** Number of host failures to tolerate while several hosts are down. */
  readonly failures?: number;
  /** Why the run stopped before its end. */
  readonly stopped?: string;
  /** While the run is suspended, HA and all other settings are as before the run. */
  readonly suspension?: Suspension;
  /** Id of the task that clients follow and cancel. */
  readonly task?: string;
}

/** @throws XoError INCORRECT_STATE: a host is disabled or down */
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

/** Turns that have not been completed. A host that has left the pool has no turn. */
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
