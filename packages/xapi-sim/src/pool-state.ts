import type { Database } from "./database.js";
import type { XapiRecord } from "./xapi-value.js";
import { Faults } from "./faults/transport-faults.js";
import { DiskContents, type KnownDisk } from "./disks/disk-contents.js";
import { flag, int, refIn, text } from "./records/fields.js";
import { XapiFailure } from "./xapi-failure.js";
import { HostUpdates } from "./updates/host-updates.js";

/** From a moment on, Unix seconds, a VM uses this many cores. */
interface LoadSetting {
  readonly from: number;
  readonly cores: number;
}

/** The time of a VM on a host, Unix seconds, and its core usage at a moment. */
interface Residency {
  readonly from: number;
  readonly to: number;
  readonly load: (seconds: number) => number;
}

/** When a VM ran: Unix seconds. */
export interface Run {
  readonly from: number;
  readonly to: number;
}

/** An entry of the OpenFlow table of a bridge that a plugin has added. */
export interface Flow {
  /** MAC address of a VIF; undefined: on each port that the bridge had. */
  readonly mac: string | undefined;
  /** Devices of VIFs that the bridge had then (references); of a flow with a MAC address none. */
  readonly ports: readonly string[];
  readonly protocol: string;
  readonly direction: "from" | "to";
  readonly ipRange: string;
  readonly port: string | undefined;
  readonly priority: number;
  readonly allow: boolean;
}

/** The connection to a host that has joined from another simulator. */
interface HostChannel {
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
  readonly disks: DiskContents;
  readonly updates = new HostUpdates();
  /** Records of disks that are on their SR and not in the database, by location. */
  readonly forgottenDisks = new Map<string, XapiRecord>();
  /** References of secrets, by the VTPM whose contents they are. */
  readonly vtpmSecrets = new Map<string, string>();
  /** Base copies that wait to be merged with their only child. */
  readonly mergingDisks = new Set<string>();
  /** By host and bridge (`ref/xenbr0`): flows of the OpenFlow table, by what they match. */
  readonly flows = new Map<string, Map<string, Flow>>();
  /** Names of users, by the console that they have open. */
  readonly consoleUsers = new Map<string, string>();
  /** By reference of the host here. */
  readonly joinedHosts = new Map<string, HostChannel>();

  /** Faults that operations and handlers apply themselves. */
  readonly faults: Faults;

  /** @param options `folder` of temporary files; default: the system's */
  constructor(
    db: Database,
    {
      folder,
      faults = new Faults(),
    }: { readonly folder?: string | undefined; readonly faults?: Faults } = {},
  ) {
    this.faults = faults;
    this.disks = new DiskContents({
      known: (uuid) => knownDisk(db, uuid),
      folder,
    });
  }
}

/** A snapshot that was there from the start has the contents of its disk. */
function knownDisk(db: Database, uuid: string): KnownDisk {
  const ref = db.byUuid("VDI", uuid);
  if (ref === undefined) throw new XapiFailure("UUID_INVALID", ["VDI", uuid]);
  const vdi = db.get("VDI", ref);
  const source = flag(vdi, "is_a_snapshot")
    ? db.find("VDI", refIn(vdi, "snapshot_of") ?? "")
    : undefined;
  return {
    seed: text(source ?? vdi, "uuid"),
    size: int(vdi, "virtual_size"),
    tracked: flag(vdi, "cbt_enabled"),
  };
}

export interface PoolData {
  readonly db: Database;
  readonly state: PoolState;
}
