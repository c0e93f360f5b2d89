import { XoError } from "@xo-server/model";
import { toBytes } from "../methods/byte-size.js";

/** A disk as clients of Xen Orchestra send it; they have several names for one thing. */
export interface GivenDisk {
  readonly userdevice?: string | number;
  readonly destroy?: boolean;
  readonly name_label?: string;
  readonly name_description?: string;
  readonly size?: string | number;
  readonly SR?: string;
  readonly $SR?: string;
  readonly sr?: string;
}

/** What is to become of one disk of a new VM. */
export interface DiskWish {
  /** Where a disk of the template is, or is to be added; absent: added at the first free place. */
  readonly position: string | undefined;
  readonly destroy: boolean;
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
  /** Id; absent: where the template's is, or the pool's default. */
  readonly sr: string | undefined;
}

/**
 * @param existing the same by position, as older clients send it
 * @throws XoError INVALID_PARAMETERS for a size that is none
 */
export function readDiskWishes(
  disks: readonly GivenDisk[],
  existing: Readonly<Record<string, GivenDisk>> = {},
): DiskWish[] {
  const byPosition = Object.entries(existing).map(([userdevice, disk]) => ({
    ...disk,
    userdevice,
  }));
  return [...byPosition, ...disks].map(toWish);
}

function toWish(given: GivenDisk): DiskWish {
  const { userdevice, size } = given;
  return {
    position: userdevice === undefined ? undefined : String(userdevice),
    destroy: given.destroy === true,
    name: given.name_label,
    description: given.name_description,
    size: size === undefined ? undefined : toBytes(size),
    sr: given.SR ?? given.$SR ?? given.sr,
  };
}

/**
 * Before anything is made: disks can only grow, and a new one needs a size.
 * @param sizes in bytes, of the template's disks by position
 * @throws XoError INVALID_PARAMETERS
 */
export function checkDiskWishes(
  wishes: readonly DiskWish[],
  sizes: ReadonlyMap<string, number>,
): void {
  const seen = new Set<string>();
  for (const { position, size, destroy } of wishes) {
    const before = position === undefined ? undefined : sizes.get(position);
    const name = `disk ${position ?? "to be added"}`;
    if (position !== undefined && seen.has(position))
      throw invalid(`${name} is named twice`);
    if (position !== undefined) seen.add(position);
    if (destroy) continue;
    if (before === undefined && size === undefined)
      throw invalid(`${name} has no size`);
    if (before !== undefined && size !== undefined && size < before)
      throw invalid(`${name} cannot shrink from ${before} to ${size} bytes`);
  }
}

function invalid(reason: string): XoError {
  return new XoError("INVALID_PARAMETERS", { reason });
}
