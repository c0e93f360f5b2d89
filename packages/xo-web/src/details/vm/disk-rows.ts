import type { Vbd, Vdi } from "../../objects/devices.js";

/** A VBD with its VDI. */
interface DiskRow {
  readonly vbd: Vbd;
  /** Undefined: not loaded yet, or not permitted. */
  readonly vdi: Vdi | undefined;
}

/** Disks by position, without CD drives. */
export function diskRows(
  vbds: readonly Vbd[],
  vdis: readonly Vdi[],
): DiskRow[] {
  const byId = new Map(vdis.map((vdi) => [vdi.id, vdi]));
  return vbds
    .filter(({ is_cd_drive }) => !is_cd_drive)
    .toSorted((a, b) => positionNumber(a) - positionNumber(b))
    .map((vbd) => ({ vbd, vdi: byId.get(vbd.VDI ?? "") }));
}

/** XAPI's `userdevice` is a number, or an old name such as `xvda`. */
function positionNumber({ position }: Vbd): number {
  const number = Number(position);
  return Number.isNaN(number) ? Infinity : number;
}
