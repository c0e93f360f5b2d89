import type { Formats } from "../locale/formats.js";

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** Binary units, as memory and disks of VMs are given out: `4 GiB`. */
export function binaryBytes(bytes: number, formats: Formats): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${formats.number(value)} ${units[unit]}`;
}
