import type { DraftObject } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import type { guestRoles, GuestSystem } from "./guest-systems.js";
import type { FleetProfile } from "./profiles.js";
import type { FleetStorage } from "./storage.js";

/** Everything that is known of a guest while its objects are made. */
export interface Guest {
  readonly vm: DraftObject;
  readonly name: string;
  readonly system: GuestSystem;
  readonly state: "Running" | "Halted" | "Suspended" | "Paused";
  /** Bytes. */
  readonly memory: number;
  /** Where it runs. */
  readonly host: FleetHost | undefined;
  /** Its number among all guests. */
  readonly index: number;
  readonly disks: readonly GuestDisk[];
}

export interface GuestContext {
  readonly profile: FleetProfile;
  readonly hosts: readonly FleetHost[];
  readonly networks: readonly DraftObject[];
  readonly storage: FleetStorage;
}

export interface GuestDisk {
  readonly vdi: DraftObject;
  readonly vbd: DraftObject;
}

export interface GuestName {
  readonly index: number;
  readonly name: string;
  readonly role: (typeof guestRoles)[number];
}
