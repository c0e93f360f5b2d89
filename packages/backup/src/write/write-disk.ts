import { RepositoryError } from "../errors.js";
import type { DiskStatistics, Manifest } from "../format/manifest.js";
import { DiskReader } from "../read/disk-reader.js";
import type { Repository } from "../repository/repository.js";
import type { Range } from "./block-runs.js";
import type { BlockSource, BlockStream } from "./block-source.js";
import type { ChunkWriter } from "./chunk-writer.js";
import { compareSample, type SampleResult } from "./compare-sample.js";
import { DiskWriter } from "./disk-writer.js";
import {
  RegionStore,
  type BaseDisk,
  type WrittenRegion,
} from "./region-store.js";
import { StreamWriter } from "./stream-writer.js";
import type { WriteContext } from "./write-context.js";

export interface DiskInput {
  readonly name: string;
  readonly source: BlockSource | BlockStream;
  readonly properties?: Readonly<Record<string, unknown>>;
  /**
   * With a base: the ranges that may differ from it; undefined: all are read.
   * The disk of the same name of the base is the base.
   */
  readonly changed?: readonly Range[];
  /** With a base: whether a stream has nothing but what differs from it. */
  readonly isDelta?: boolean;
  /** Without `changed`: the ranges that may be other than zero; undefined: all are read. */
  readonly allocated?: readonly Range[];
  /** Share of what is not in `changed` that is compared with the base, 0 to 1; default 0. */
  readonly compareSample?: number;
  /** Limits it to this number of bytes for each changed byte, but see `SampleChoice`; default: no limit. */
  readonly comparePerChanged?: number;
}

/** Where a disk is written to. */
interface DiskTarget {
  readonly repository: Repository;
  readonly data: ChunkWriter;
  readonly index: ChunkWriter;
  /** Names of the packs that exist and whose index can be read. */
  readonly readable: ReadonlySet<string>;
  /** The backup that changes refer to. */
  readonly base: Manifest | undefined;
}

interface WrittenDisk {
  readonly regions: WrittenRegion[];
  readonly statistics: DiskStatistics;
}

/**
 * Writes one disk: what changed, or everything if a random sample of the rest
 * differs from the base.
 */
export async function writeDisk(
  input: DiskInput,
  target: DiskTarget,
  context: WriteContext,
): Promise<WrittenDisk> {
  const { data } = target;
  const before = { ...data.statistics };
  const base = baseOf(input, target.base);
  const written = isStream(input.source)
    ? await writeStream(input.source, { target, base, context })
    : await writeBlocks(input, input.source, { target, base, context });
  const { regions, sample, ...statistics } = written;
  return {
    regions,
    statistics: {
      ...statistics,
      read: data.statistics.read - before.read,
      stored: data.statistics.compressed - before.compressed,
      compared: sample?.compared ?? 0,
      mismatches: sample?.mismatches ?? 0,
    },
  };
}

/** What `done` of the progress will be, as far as it is known. */
export function expectedBytes({
  source,
  changed,
  allocated,
}: DiskInput): number {
  if (isStream(source)) return source.total ?? source.size;
  const ranges = changed ?? allocated;
  return ranges === undefined ? source.size : bytesOf(ranges);
}

interface Writing {
  readonly target: DiskTarget;
  readonly base: BaseDisk | undefined;
  readonly context: WriteContext;
}

type Written = Pick<DiskStatistics, "mode" | "changed"> & {
  readonly regions: WrittenRegion[];
  readonly sample?: SampleResult;
};

async function writeBlocks(
  input: DiskInput,
  source: BlockSource,
  { target, base, context }: Writing,
): Promise<Written> {
  const { repository, data } = target;
  const { changed, compareSample: share = 0 } = input;
  const { comparePerChanged: perChanged } = input;
  let sample: SampleResult | undefined;
  if (base !== undefined && changed !== undefined && share > 0) {
    const reader = readerOf(repository, base);
    const options = {
      source: source.unshared ?? source,
      base: reader,
      changed,
      share,
      perChanged,
    };
    sample = await compareSample(options, context);
    data.statistics.read += sample.read;
    context.progress.done += sample.compared;
    context.progress.total += sample.compared;
  }
  const isFull = base === undefined || (sample?.mismatches ?? 0) > 0;
  if (isFull && changed !== undefined)
    context.progress.total += source.size - bytesOf(changed);
  const regions = new RegionStore(repository, {
    ...target,
    size: source.size,
    base: isFull ? undefined : base,
  });
  const ranges = isFull ? input.allocated : changed;
  await new DiskWriter({ source, regions, data, ranges }, context).write();
  return {
    mode: isFull ? "full" : "changes",
    changed: isFull ? source.size : bytesOf(changed!),
    regions: await regions.finish(),
    ...(sample && { sample }),
  };
}

async function writeStream(
  stream: BlockStream,
  { target, base, context }: Writing,
): Promise<Written> {
  const { repository, data } = target;
  const regions = new RegionStore(repository, {
    ...target,
    size: stream.size,
    base,
  });
  const reader = base && readerOf(repository, base);
  const writer = new StreamWriter(
    { stream, regions, data, base: reader },
    context,
  );
  const received = await writer.write();
  return {
    mode: base === undefined ? "full" : "changes",
    // Some streams know their size only now.
    changed: base === undefined ? stream.size : received,
    regions: await regions.finish(),
  };
}

/** The base of a disk of which only changes are read. @throws RepositoryError `unknown` */
function baseOf(
  { name, changed, isDelta }: DiskInput,
  manifest: Manifest | undefined,
): BaseDisk | undefined {
  const isPartial = changed !== undefined || isDelta === true;
  if (!isPartial || manifest === undefined) return undefined;
  const disk = manifest.disks.find((one) => one.name === name);
  if (disk === undefined)
    throw new RepositoryError(
      "unknown",
      `disk ${name}: the base ${manifest.id} has no disk of this name`,
    );
  return { manifest, disk };
}

function readerOf(
  repository: Repository,
  { manifest, disk }: BaseDisk,
): DiskReader {
  return new DiskReader(repository, manifest, disk.name);
}

function isStream(source: BlockSource | BlockStream): source is BlockStream {
  return "parts" in source;
}

function bytesOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { length }) => sum + length, 0);
}
