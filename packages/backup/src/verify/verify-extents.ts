import { RepositoryError } from "../errors.js";
import { BLOCK_SIZE } from "../format/limits.js";
import type { Manifest } from "../format/manifest.js";
import { packFile } from "../format/pack-layout.js";
import type { Extent } from "../format/region.js";
import { DiskReader } from "../read/disk-reader.js";
import type { Repository } from "../repository/repository.js";
import type { Finding } from "./finding.js";

/** Checks that each extent of each backup refers to a chunk that exists. Data is not read. */
export async function verifyExtents(
  repository: Repository,
  manifests: Iterable<Manifest>,
  signal?: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const manifest of manifests)
    for (const disk of manifest.disks) {
      const reader = new DiskReader(repository, manifest, disk.name);
      for (const { region, id, uses, pack } of disk.regions) {
        signal?.throwIfAborted();
        const allowed = new Set(uses.map((use) => manifest.packs[use]!));
        const key = `${id} ${[...allowed].join(" ")}`;
        if (seen.has(key)) continue;
        seen.add(key);
        try {
          for (const extent of await reader.extents(region))
            await checkExtent(repository, extent, allowed);
        } catch (error) {
          findings.push({
            file: packFile(manifest.packs[pack]!),
            problem: "inconsistent",
            isRepaired: false,
            backups: [manifest.id],
            detail: `disk ${disk.name}, region ${region}: ${(error as Error).message}`,
          });
        }
      }
    }
  return findings;
}

/** @throws Error if it refers to nothing, or to a pack that the manifest does not name */
async function checkExtent(
  { packs }: Repository,
  { blocks, skip, chunk }: Extent,
  allowed: ReadonlySet<string>,
): Promise<void> {
  if (!allowed.has(chunk.pack))
    throw new Error(`the manifest does not name pack ${chunk.pack}`);
  let index;
  try {
    index = await packs.index(chunk.pack);
  } catch (error) {
    // A missing or damaged pack is a finding of its own.
    if (error instanceof RepositoryError) return;
    throw error;
  }
  const isPresent =
    chunk.entry < index.count && index.id(chunk.entry).equals(chunk.id);
  if (!isPresent) throw new Error(`pack ${chunk.pack} has another chunk`);
  if ((skip + blocks) * BLOCK_SIZE > index.plainSize(chunk.entry))
    throw new Error("an extent is longer than its chunk");
}
