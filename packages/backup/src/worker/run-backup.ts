import { RepositoryError } from "../errors.js";
import { prepareCompression } from "../format/compression.js";
import type { Repository } from "../repository/repository.js";
import { changedRanges } from "../source/changed-blocks.js";
import { openSources } from "../source/open-sources.js";
import { writeBackup } from "../write/write-backup.js";
import { expectedBytes, type DiskInput } from "../write/write-disk.js";
import type { OrderContext } from "./order-context.js";
import type { BackupOrderResult } from "./order-results.js";
import { repeatOnConflict } from "./repeat-on-conflict.js";
import type { BackupDisk, BackupOperation } from "./work-order.js";

/** Keeps what is read below 1.1 times what has changed. */
const USUAL_COMPARISON = { compareSample: 0.01, comparePerChanged: 0.08 };

/** @throws RepositoryError */
export function runBackup(
  repository: Repository,
  operation: BackupOperation,
  context: OrderContext,
): Promise<BackupOrderResult> {
  return repeatOnConflict(() => backUpOnce(repository, operation, context));
}

async function backUpOnce(
  repository: Repository,
  { properties, base, key, disks, maxBytesPerSecond }: BackupOperation,
  { signal, onProgress }: OrderContext,
): Promise<BackupOrderResult> {
  for (const disk of disks) checkDisk(disk);
  const open = await openSources(disks, signal);
  try {
    const inputs = disks.map((disk, i) => toInput(disk, open.contents[i]!));
    prepareCompression(
      inputs.reduce((sum, one) => sum + expectedBytes(one), 0),
    );
    const input = {
      properties,
      disks: inputs,
      ...(base !== undefined && { base }),
      ...(key !== undefined && { key }),
    };
    const result = await writeBackup(repository, input, {
      signal,
      maxBytesPerSecond,
      onProgress: ({ read, stored }, { done, total }) =>
        onProgress({ done, total, read, written: stored }),
    });
    return {
      ...result,
      disks: result.disks.map((figures, i) => ({
        ...figures,
        source: disks[i]!.source.type,
      })),
    };
  } finally {
    await open.close();
  }
}

/** @throws RepositoryError `invalid` */
export function checkDisk({
  name,
  source,
  size,
  changedBlocks,
  delta,
}: BackupDisk) {
  const isStream = source.type === "stream";
  const isSizeFound =
    source.type === "image" ||
    (isStream && source.format === "raw" && source.maxSize !== undefined);
  const problem =
    size === undefined && !isSizeFound
      ? "size is needed"
      : isStream && changedBlocks !== undefined
        ? "changedBlocks is not possible with a stream, only delta"
        : delta === true && (!isStream || source.format !== "vhd")
          ? "delta is possible only with a VHD stream"
          : isStream && source.format === "xva" && source.vdi === undefined
            ? "vdi is needed with an XVA"
            : undefined;
  if (problem !== undefined)
    throw new RepositoryError("invalid", `disk ${name}: ${problem}`);
}

/** The input of the writer, from one disk of a work order and its opened source. */
export function toInput(
  disk: BackupDisk,
  content: DiskInput["source"],
): DiskInput {
  const { name, properties, changedBlocks, delta } = disk;
  return {
    name,
    source: content,
    ...(properties && { properties }),
    ...(changedBlocks && {
      changed: changedRanges(changedBlocks, content.size),
    }),
    ...(delta && { isDelta: true }),
    ...(disk.compareSample === undefined
      ? USUAL_COMPARISON
      : { compareSample: disk.compareSample }),
    ...(disk.comparePerChanged !== undefined && {
      comparePerChanged: disk.comparePerChanged,
    }),
  };
}
