import type { Sr } from "../../objects/infrastructure.js";

/** SRs with disks first, then ISO libraries, physical drives last; each by name. */
export function byUse(a: Sr | undefined, b: Sr | undefined): number {
  const name = (sr: Sr | undefined) => sr?.name_label ?? "";
  if (name(a) === name(b)) return rankOf(a) - rankOf(b);
  return rankOf(a) - rankOf(b) || (name(a) < name(b) ? -1 : 1);
}

function rankOf(sr: Sr | undefined): number {
  if (sr === undefined) return 4;
  if (sr.SR_type === "udev") return 3;
  if (sr.content_type === "iso") return 2;
  return sr.shared ? 0 : 1;
}
