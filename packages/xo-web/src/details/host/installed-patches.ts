/** An installed supplemental pack or update. */
interface InstalledPatch {
  readonly name: string;
  readonly version: string;
  readonly description: string;
}

/**
 * Supplemental packs, then updates, each name once: XenServer lists an update for each host
 * and pool, XCP-ng a supplemental pack as an update as well.
 */
export function installedPatches(
  packs: readonly (Omit<InstalledPatch, "version"> & {
    readonly version?: string;
  })[],
  updates: readonly Omit<InstalledPatch, "version">[],
): readonly InstalledPatch[] {
  const byName = new Map<string, InstalledPatch>();
  for (const { name, version = "", description } of packs)
    byName.set(name, { name, version, description });
  for (const { name, description } of updates)
    if (!byName.has(name)) byName.set(name, { name, version: "", description });
  return [...byName.values()];
}
