import { damaged, unsupported } from "../model/file-system-error.js";
import { contentOfRuns, type FileRun } from "../model/file-runs.js";
import { MAX_READ, type ReadableDisk } from "../model/readable-disk.js";
import { decompressLznt1 } from "./lznt1.js";
import {
  decodeRunList,
  type ClusterRun,
  type NtfsAttribute,
} from "./ntfs-record.js";

/** Where the bytes of an attribute are. Sizes in bytes. */
interface NtfsVolume {
  readonly disk: ReadableDisk;
  readonly clusterSize: number;
}

/** @param parts of one attribute that is not resident, in order */
async function* runsOf(
  parts: AsyncIterable<NtfsAttribute>,
): AsyncGenerator<ClusterRun, void> {
  let next = 0;
  for await (const { firstCluster, runList } of parts) {
    if (firstCluster !== next) throw damaged("a part of a file is missing");
    for (const run of decodeRunList(runList)) {
      next += run.count;
      yield run;
    }
  }
}

/**
 * The content of an attribute.
 * @param first its first part @param parts all of them
 * @throws FileSystemError
 */
export async function* contentOfAttribute(
  { disk, clusterSize }: NtfsVolume,
  first: NtfsAttribute,
  parts: AsyncIterable<NtfsAttribute>,
): AsyncGenerator<Buffer, void> {
  if (first.value !== undefined) {
    yield first.value;
    return;
  }
  if (first.isEncrypted) throw unsupported("the file is encrypted");
  const { size, initialized, isCompressed, unitBits } = first;
  const written = Math.min(size, initialized);
  const volume = { disk, clusterSize };
  if (isCompressed && unitBits > 0)
    yield* decompressed(volume, runsOf(parts), { size: written, unitBits });
  else
    yield* contentOfRuns(
      disk,
      toFileRuns(runsOf(parts), { clusterSize, size: written }),
      written,
    );
  // What was never written is zero, whatever the disk has there.
  if (size > written) yield* contentOfRuns(disk, [], size - written);
}

/** @throws FileSystemError `file-system-damaged` if the runs are shorter than the file */
async function* toFileRuns(
  runs: AsyncIterable<ClusterRun>,
  {
    clusterSize,
    size,
  }: { readonly clusterSize: number; readonly size: number },
): AsyncGenerator<FileRun, void> {
  let found = 0;
  for await (const { cluster, count } of runs) {
    const length = count * clusterSize;
    found += length;
    yield {
      length,
      offset: cluster === undefined ? undefined : cluster * clusterSize,
    };
  }
  if (found < size) throw damaged("the clusters of a file are missing");
}

/** Each unit is stored as it is, compressed in fewer clusters, or not at all if it is zero. */
async function* decompressed(
  volume: NtfsVolume,
  runs: AsyncIterable<ClusterRun>,
  { size, unitBits }: { readonly size: number; readonly unitBits: number },
): AsyncGenerator<Buffer, void> {
  const clusters = 2 ** unitBits;
  const unit = clusters * volume.clusterSize;
  if (unit > MAX_READ) throw damaged("a unit of compression is too large");
  let done = 0;
  let parts: ClusterRun[] = [];
  let filled = 0;
  for await (const run of runs) {
    for (let used = 0; used < run.count && done < size;) {
      const count = Math.min(clusters - filled, run.count - used);
      const { cluster } = run;
      parts.push({
        cluster: cluster === undefined ? undefined : cluster + used,
        count,
      });
      used += count;
      filled += count;
      if (filled < clusters) continue;
      const bytes = await readUnit(volume, parts, unit);
      yield bytes.subarray(0, Math.min(unit, size - done));
      done += unit;
      parts = [];
      filled = 0;
    }
    if (done >= size) return;
  }
  if (done < size) throw damaged("the clusters of a file are missing");
}

async function readUnit(
  { disk, clusterSize }: NtfsVolume,
  parts: readonly ClusterRun[],
  unit: number,
): Promise<Buffer> {
  const stored = parts.filter(({ cluster }) => cluster !== undefined);
  if (stored.length === 0) return Buffer.alloc(unit);
  const bytes: Buffer[] = [];
  for (const { cluster, count } of stored)
    bytes.push(await disk.read(cluster! * clusterSize, count * clusterSize));
  const joined = Buffer.concat(bytes);
  return joined.length === unit ? joined : decompressLznt1(joined, unit);
}
