import type { Database } from "./database.js";
import type { XapiRecord } from "./xapi-value.js";
import { WrittenDisks } from "./disks/written-disks.js";

/** From a moment on, Unix seconds, a VM uses this many cores. */
export interface LoadSetting {
  readonly from: number;
  readonly cores: number;
}

/** The time of a VM on a host, Unix seconds, and its core usage at a moment. */
export interface Residency {
  readonly from: number;
  readonly to: number;
  readonly load: (seconds: number) => number;
}

/** When a VM ran: Unix seconds. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** The connection to a host that has joined from another simulator. */
export interface HostChannel {
  send(message: Readonly<Record<string, string | boolean>>): void;
}

/** State of a simulated pool that XAPI's database does not contain. */
export class PoolState {
  /** By host: bytes that VMs on their way there will take, by VM. */
  readonly expectedMemory = new Map<string, Map<string, number>>();
  /** By VM. */
  readonly loads = new Map<string, readonly LoadSetting[]>();
  /** By host: VMs that were there. */
  readonly residencies = new Map<string, Residency[]>();
  /** By VM: when it came to where it is, unless it started there; Unix seconds. */
  readonly arrivals = new Map<string, number>();
  /** Ended runs, by uuid of the VM. */
  readonly runs = new Map<string, readonly Run[]>();
  readonly disks = new WrittenDisks();
  /** Records of disks that are on their SR and not in the database, by location. */
  readonly forgottenDisks = new Map<string, XapiRecord>();
  /** References of secrets, by the VTPM whose contents they are. */
  readonly vtpmSecrets = new Map<string, string>();
  /** Names of users, by the console that they have open. */
  readonly consoleUsers = new Map<string, string>();
  /** By reference of the host here. */
  readonly joinedHosts = new Map<string, HostChannel>();
}

export interface PoolData {
  readonly db: Database;
  readonly state: PoolState;
}
