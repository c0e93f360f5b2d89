import { XoError } from "@xo-server/model";
import { toBytes } from "../parameters/byte-size.js";

/** A disk as clients of Xen Orchestra send it, which use several names for the same property. */
interface DiskParameter {
  readonly userdevice?: string | number;
  readonly destroy?: boolean;
  readonly name_label?: string;
  readonly name_description?: string;
  readonly size?: string | number;
  readonly SR?: string;
  readonly $SR?: string;
  readonly sr?: string;
}

/** Specification of one disk of a new VM. */
interface DiskSpec {
  /**
   * Position of a template disk to change, or of a disk to add; absent: a disk
   * is added at the first free position.
   */
  readonly position: string | undefined;
  readonly destroy: boolean;
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** Bytes. */
  readonly size: number | undefined;
  /** Id of the SR; absent: that of the template's disk, or the default SR of the pool. */
  readonly sr: string | undefined;
}

/**
 * @param existing disks by position, as older clients send them
 * @throws XoError INVALID_PARAMETERS: invalid size
 */
export function parseDiskSpecs(
  disks: readonly DiskParameter[],
  existing: Readonly<Record<string, DiskParameter>> = {},
): DiskSpec[] {
  const byPosition = Object.entries(existing).map(([userdevice, disk]) => ({
    ...disk,
    userdevice,
  }));
  return [...byPosition, ...disks].map(toDiskSpec);
}

function toDiskSpec(input: DiskParameter): DiskSpec {
  const { userdevice, size } = input;
  return {
    position: userdevice === undefined ? undefined : String(userdevice),
    destroy: input.destroy === true,
    name: input.name_label,
    description: input.name_description,
    size: size === undefined ? undefined : toBytes(size),
    sr: input.SR ?? input.$SR ?? input.sr,
  };
}

/**
 * Checks that disks only grow, and that new disks have a size.
 * @param sizes in bytes, of the template's disks by position
 * @throws XoError INVALID_PARAMETERS
 */
export function checkDiskSpecs(
  specs: readonly DiskSpec[],
  sizes: ReadonlyMap<string, number>,
): void {
  const seen = new Set<string>();
  for (const { position, size, destroy } of specs) {
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
