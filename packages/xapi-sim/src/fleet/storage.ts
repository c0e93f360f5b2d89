import type { DraftObject, FleetBuilder } from "./fleet-builder.js";
import type { FleetHost } from "./fleet-host.js";
import { addIsoSrs } from "./iso-library.js";
import { addLocalSrs } from "./local-storage.js";
import type { FleetProfile } from "./profiles.js";
import { addSharedSrs } from "./shared-storage.js";
import { addStorageManagers } from "./storage-managers.js";

export interface FleetStorage {
  /** SRs that all hosts share, for disks. */
  readonly shared: readonly DraftObject[];
  /** The local SR of each host, in the hosts' order. */
  readonly local: readonly DraftObject[];
  /** ISO images that a CD drive accepts. */
  readonly isos: readonly DraftObject[];
}

/** The storage of the pool: drivers, repositories, the hosts' ways to them, installation images. */
export function addStorage(
  builder: FleetBuilder,
  profile: FleetProfile,
  hosts: readonly FleetHost[],
): FleetStorage {
  addStorageManagers(builder);
  return {
    shared: addSharedSrs(builder, hosts, profile.sharedSrs),
    local: hosts.map((host) => addLocalSrs(builder, host)),
    isos: addIsoSrs(builder, hosts, profile.isBare === true),
  };
}
