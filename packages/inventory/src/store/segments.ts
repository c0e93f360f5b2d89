import type { RecordBuffer } from "@xo-server/model";
import type { CompressedBlock } from "./compressed-rows.js";
import {
  CompressedRecords,
  RecordDecompressor,
} from "./record-decompressor.js";
import { ParsedValues } from "./parsed-values.js";
import { ReleasedMemory } from "./released-memory.js";
import type { SharedSegment } from "./shared-rows.js";
import { SpareBuffers } from "./spare-buffers.js";

/**
 * Size of segments for copied records, in bytes. A record longer than a quarter of
 * it gets a separate segment.
 */
const SEGMENT_BYTES = 256 * 1024;
/** Unused segments that are kept for the pools of an inventory: 4 MiB. */
const MAX_SPARE = 16;
/** A segment is emptied when more than this share of it is dead. */
const DEAD_SHARE = 1 / 4;
/**
 * Compaction starts when it would free this share of the live bytes, and at
 * least MIN_GAIN_BYTES.
 */
const MIN_GAIN_SHARE = 1 / 10;
const MIN_GAIN_BYTES = 256 * 1024;

interface Segment {
  /** References and records; if these are compressed, references and columns. */
  readonly bytes: Buffer;
  readonly compressed: CompressedSegment | undefined;
  /** From the spare ones: nothing else refers to its buffer. */
  readonly isOwn: boolean;
  readonly isShared: boolean;
  /** Bytes of live records and references in it. */
  live: number;
  isSparse: boolean;
}

interface CompressedSegment {
  readonly block: CompressedBlock;
  readonly records: CompressedRecords;
}

/** What segments hold. */
export interface SegmentsContent {
  /** By number; undefined: freed. */
  readonly segments: readonly (SegmentContent | undefined)[];
  /** Number of the segment that copies are appended to; -1: none. */
  readonly open: number;
  /** Its used bytes. */
  readonly openUsed: number;
}

interface SegmentContent {
  readonly buffer: RecordBuffer;
  /** Which block of the buffer it is, if its records are compressed. */
  readonly block?: CompressedBlock;
  /** Bytes of live records and references in it. */
  readonly live: number;
}

/** What the segments of several stores share. */
export interface SegmentServices {
  /** Unused segments. */
  readonly spare: SpareBuffers;
  readonly released: ReleasedMemory;
  readonly decompressor: RecordDecompressor;
  readonly parsed: ParsedValues;
}

export function createSegmentServices(): SegmentServices {
  return {
    spare: new SpareBuffers(SEGMENT_BYTES, MAX_SPARE),
    released: new ReleasedMemory(),
    decompressor: new RecordDecompressor(),
    parsed: new ParsedValues(),
  };
}

export interface SegmentStats {
  readonly segments: number;
  readonly bytes: number;
  /** Of live records and references, decompressed. */
  readonly liveBytes: number;
  /** The part of `bytes` in segments whose records are compressed. */
  readonly compressedBytes: number;
}

/**
 * Memory for records: adopted receive buffers, blocks of compressed records, and
 * segments into which single records are copied, so that a small live record does
 * not retain a large dead buffer. A segment without live bytes is freed.
 */
export class Segments {
  readonly #services: SegmentServices;
  /** By number; numbers of freed segments are reused. */
  readonly #segments: (Segment | undefined)[] = [];
  readonly #free: number[] = [];
  #bytes = 0;
  #liveBytes = 0;
  /** The parts of `#bytes` and `#liveBytes` in compressed segments. */
  #compressedBytes = 0;
  #compressedLiveBytes = 0;
  /**
   * The segment that copies are appended to (-1: none), and its used bytes. It
   * is not freed while it is open.
   */
  #open = -1;
  #openUsed = 0;

  /** @param content of other segments, which must not be used afterwards */
  constructor(services: SegmentServices, content?: SegmentsContent) {
    this.#services = services;
    for (const [number, segment] of content?.segments.entries() ?? []) {
      this.#segments.push(undefined);
      this.#free.push(number);
      if (segment === undefined) continue;
      this.#addContent(segment);
      this.retain(number, segment.live);
    }
    this.#open = content?.open ?? -1;
    this.#openUsed = content?.openUsed ?? 0;
  }

  get content(): SegmentsContent {
    return {
      segments: this.#segments.map(
        (segment) =>
          segment && {
            // From its start, unless it is a block: see `adopt` and `#allocate`.
            buffer: segment.bytes.buffer,
            ...(segment.compressed && { block: segment.compressed.block }),
            live: segment.live,
          },
      ),
      open: this.#open,
      openUsed: this.#openUsed,
    };
  }

  get stats(): SegmentStats {
    return {
      segments: this.#segments.length - this.#free.length,
      bytes: this.#bytes,
      liveBytes: this.#liveBytes,
      compressedBytes: this.#compressedBytes,
    };
  }

  /** References and columns. */
  bytesOf(segment: number): Buffer {
    return this.#segments[segment]!.bytes;
  }

  /** Records; valid until the next call for another segment. */
  recordsOf(segment: number): Buffer {
    const { bytes, compressed } = this.#segments[segment]!;
    return compressed === undefined
      ? bytes
      : this.#services.decompressor.read(compressed.records);
  }

  /** Columns of compressed records that were parsed last. */
  get parsed(): ParsedValues {
    return this.#services.parsed;
  }

  isCompressed(segment: number): boolean {
    return this.#segments[segment]!.compressed !== undefined;
  }

  /** The segment for another thread; undefined: it is not in shared memory. */
  sharedOf(segment: number): SharedSegment | undefined {
    const { bytes, compressed } = this.#segments[segment]!;
    const { buffer } = bytes;
    if (!(buffer instanceof SharedArrayBuffer)) return undefined;
    return { buffer, ...(compressed && { block: compressed.block }) };
  }

  /** Whether the segment is in shared memory: its bytes never change. */
  isShared(segment: number): boolean {
    return this.#segments[segment]!.isShared;
  }

  isSparse(segment: number): boolean {
    return this.#segments[segment]!.isSparse;
  }

  /**
   * Adds a received buffer without copying it. The caller must `retain` a byte
   * before anything else is released.
   */
  adopt(buffer: RecordBuffer): number {
    return this.#add({ bytes: Buffer.from(buffer) });
  }

  /** Adds a block of compressed records, under the same condition. */
  adoptBlock(buffer: SharedArrayBuffer, block: CompressedBlock): number {
    return this.#add({
      bytes: Buffer.from(buffer, block.offset, block.plainBytes),
      compressed: { block, records: new CompressedRecords(buffer, block) },
    });
  }

  /**
   * Copies a reference and its record behind each other. @returns the segment
   * number; the offset is in `lastCopyOffset`
   */
  copy(from: Buffer, first: ByteRange, second: ByteRange): number {
    const length = first.length + second.length;
    const segment = this.#segmentFor(length);
    const { bytes } = this.#segments[segment]!;
    const at = segment === this.#open ? this.#openUsed : 0;
    from.copy(bytes, at, first.offset, first.offset + first.length);
    from.copy(
      bytes,
      at + first.length,
      second.offset,
      second.offset + second.length,
    );
    if (segment === this.#open) this.#openUsed += length;
    this.lastCopyOffset = at;
    return segment;
  }

  /**
   * Offset of the last `copy` in its segment: a second return value without an
   * object.
   */
  lastCopyOffset = 0;

  retain(segment: number, bytes: number): void {
    const one = this.#segments[segment]!;
    one.live += bytes;
    this.#liveBytes += bytes;
    if (one.compressed !== undefined) this.#compressedLiveBytes += bytes;
  }

  release(segment: number, bytes: number): void {
    this.retain(segment, -bytes);
    this.#dropIfDead(segment);
  }

  #dropIfDead(segment: number): void {
    const one = this.#segments[segment]!;
    if (one.live > 0 || segment === this.#open) return;
    const { spare, released, parsed } = this.#services;
    if (one.compressed !== undefined) parsed.clear();
    if (one.isOwn) spare.put(one.bytes.buffer as ArrayBuffer);
    else if (one.isShared) released.add(storedBytes(one));
    this.#segments[segment] = undefined;
    this.#free.push(segment);
    this.#count(one, -1);
  }

  /** Adds the segment to the totals (1) or subtracts it (-1). */
  #count(segment: Segment, sign: 1 | -1): void {
    const bytes = sign * storedBytes(segment);
    this.#bytes += bytes;
    if (segment.compressed !== undefined) this.#compressedBytes += bytes;
  }

  /**
   * Marks the segments that are mostly dead, if enough would be gained; not compressed
   * ones, which a checkpoint of the whole pool replaces. Visits all segments of a pool in one step: 1.2 GB are at most 4,800 segments,
   * about 50 us; a typical pool has 150.
   * @returns true when records should be moved out of the sparse segments
   */
  selectSparse(): boolean {
    const live = this.#liveBytes - this.#compressedLiveBytes;
    const minGain = Math.max(MIN_GAIN_BYTES, live * MIN_GAIN_SHARE);
    if (this.#bytes - this.#compressedBytes - live < minGain) return false;
    const candidates = this.#segments.filter(
      (segment, number): segment is Segment =>
        segment !== undefined &&
        segment.compressed === undefined &&
        number !== this.#open &&
        segment.live < segment.bytes.length * (1 - DEAD_SHARE),
    );
    const gain = candidates.reduce(
      (sum, one) => sum + one.bytes.length - one.live,
      0,
    );
    if (gain < minGain) return false;
    for (const segment of candidates) segment.isSparse = true;
    return true;
  }

  #segmentFor(length: number): number {
    if (length > SEGMENT_BYTES / 4) return this.#allocate(length);
    if (this.#open >= 0 && this.#openUsed + length <= SEGMENT_BYTES)
      return this.#open;
    const full = this.#open;
    this.#open = this.#allocate(SEGMENT_BYTES);
    this.#openUsed = 0;
    if (full >= 0) this.#dropIfDead(full);
    return this.#open;
  }

  #allocate(length: number): number {
    return length === SEGMENT_BYTES
      ? this.#add({
          bytes: Buffer.from(this.#services.spare.take()),
          isOwn: true,
        })
      : this.#add({ bytes: Buffer.from(new ArrayBuffer(length)) });
  }

  /** Adds what another store had. */
  #addContent({ buffer, block }: SegmentContent): number {
    return block !== undefined && buffer instanceof SharedArrayBuffer
      ? this.adoptBlock(buffer, block)
      : this.adopt(buffer);
  }

  #add({
    bytes,
    isOwn = false,
    compressed,
  }: Pick<Segment, "bytes"> &
    Partial<Pick<Segment, "compressed" | "isOwn">>): number {
    const number = this.#free.pop() ?? this.#segments.length;
    const isShared = bytes.buffer instanceof SharedArrayBuffer;
    const segment: Segment = {
      bytes,
      compressed,
      isOwn,
      isShared,
      live: 0,
      isSparse: false,
    };
    this.#segments[number] = segment;
    this.#count(segment, 1);
    return number;
  }
}

/** Memory of a segment. */
function storedBytes({ bytes, compressed }: Segment): number {
  return bytes.length + (compressed?.block.storedBytes ?? 0);
}

/** In bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}
