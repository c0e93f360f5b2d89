import type { Vdi } from "../objects/devices.js";
import type { Sr } from "../objects/infrastructure.js";

/** SRs of a host that accept disks, most free space first. */
export function diskTargets(
  srs: readonly Sr[],
  reached: ReadonlySet<string>,
): readonly Sr[] {
  return srs
    .filter(({ id, content_type }) => reached.has(id) && content_type !== "iso")
    .sort((a, b) => freeOf(b) - freeOf(a));
}

/** Bytes. */
export function freeOf({ size = 0, physical_usage = 0 }: Sr): number {
  return Math.max(0, size - physical_usage);
}

/**
 * The proposed SR of each disk: it stays where it is reached,
 * else the default of the pool, else the SR with the most free space.
 */
export function proposeSrs(
  disks: readonly Vdi[],
  targets: readonly Sr[],
  defaultSr: string | undefined,
): Record<string, string> {
  const ids = new Set(targets.map(({ id }) => id));
  const fallback =
    defaultSr !== undefined && ids.has(defaultSr) ? defaultSr : targets[0]?.id;
  const proposed: Record<string, string> = {};
  for (const { id, $SR } of disks) {
    const to = $SR !== undefined && ids.has($SR) ? $SR : fallback;
    if (to !== undefined) proposed[id] = to;
  }
  return proposed;
}

/** Missing bytes by SR, where disks do not fit. */
export function overfull(
  disks: readonly Vdi[],
  chosen: Readonly<Record<string, string>>,
  srs: readonly Sr[],
): ReadonlyMap<string, number> {
  const coming = new Map<string, number>();
  for (const { id, $SR, usage = 0 } of disks) {
    const to = chosen[id];
    if (to !== undefined && to !== $SR)
      coming.set(to, (coming.get(to) ?? 0) + usage);
  }
  const lacking = new Map<string, number>();
  for (const sr of srs) {
    const lacks = (coming.get(sr.id) ?? 0) - freeOf(sr);
    if (coming.has(sr.id) && lacks > 0) lacking.set(sr.id, lacks);
  }
  return lacking;
}

/** Networks of another pool for VIFs: of the same name, else the first. */
export function proposeNetworks(
  vifs: readonly { readonly id: string; readonly network: string }[],
  networks: readonly { readonly id: string; readonly name_label?: string }[],
): Record<string, string> {
  const proposed: Record<string, string> = {};
  for (const { id, network } of vifs) {
    const same = networks.find(({ name_label }) => name_label === network);
    const to = (same ?? networks[0])?.id;
    if (to !== undefined) proposed[id] = to;
  }
  return proposed;
}
