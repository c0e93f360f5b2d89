import type { Vbd, Vdi } from "../../objects/devices.js";

/** A disk in its place. */
export interface DiskRow {
  readonly vbd: Vbd;
  /** Undefined: not known yet, or nobody may see it. */
  readonly vdi: Vdi | undefined;
}

/** Disks in the order of their places; CD drives are shown elsewhere. */
export function diskRows(
  vbds: readonly Vbd[],
  vdis: readonly Vdi[],
): DiskRow[] {
  const byId = new Map(vdis.map((vdi) => [vdi.id, vdi]));
  return vbds
    .filter(({ is_cd_drive }) => !is_cd_drive)
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .map((vbd) => ({ vbd, vdi: byId.get(vbd.VDI ?? "") }));
}

/** XAPI has numbers, and old names such as `xvda`. */
function placeOf({ position }: Vbd): number {
  const place = Number(position);
  return Number.isNaN(place) ? Infinity : place;
}
