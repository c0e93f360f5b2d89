import { RepositoryError } from "../errors.js";

/** One backup, complete by itself: no other backup is needed to restore it. */
export interface Manifest {
  readonly version: 1;
  readonly id: string;
  /** ISO 8601. */
  readonly created: string;
  /** Free data of the caller: the VM's records, NVRAM, what was skipped. */
  readonly properties: Readonly<Record<string, unknown>>;
  readonly disks: readonly DiskManifest[];
  /** Hexadecimal names of all packs that this backup needs. */
  readonly packs: readonly string[];
}

export interface DiskManifest {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Regions that are not all zero, in order. */
  readonly regions: readonly RegionReference[];
  /** What writing this disk cost; undefined in old backups. */
  readonly statistics?: DiskStatistics;
}

/** Bytes, unless noted. */
export interface DiskStatistics {
  /** `full`: everything was read; `changes`: only what differs from the base. */
  readonly mode: "full" | "changes";
  /** Read from the source, compared blocks included. */
  readonly read: number;
  /** What could differ from the base; the size of the disk in mode `full`. */
  readonly changed: number;
  /** Chunks that the repository did not have, compressed. */
  readonly stored: number;
  /** Blocks without changes that were compared with the base. */
  readonly compared: number;
  /** How many compared blocks differed (a count): then the mode is `full`. */
  readonly mismatches: number;
}

/** Where the extents of a region are stored. */
export interface RegionReference {
  /** Which 256 MiB of the disk. */
  readonly region: number;
  /** The chunk with the extents: index in `packs`, number in that pack, hexadecimal id. */
  readonly pack: number;
  readonly entry: number;
  readonly id: string;
  /** Indexes in `packs` of the packs that the extents name. */
  readonly uses: readonly number[];
}

/** Path of a manifest in the repository. @param id of the backup */
export function manifestFile(id: string): string {
  return `backups/${id}`;
}

/**
 * @param name of the disk, as the backup job named it
 * @throws RepositoryError `unknown`, with the names that exist
 */
export function findDisk(manifest: Manifest, name: string): DiskManifest {
  const disk = manifest.disks.find((one) => one.name === name);
  if (disk !== undefined) return disk;
  const names = manifest.disks.map((one) => one.name).join(", ");
  throw new RepositoryError(
    "unknown",
    `disk: backup ${manifest.id} has no disk ${name}, it has: ${names}`,
  );
}
