import type { RecordBuffer } from "@xo-server/model";
import type { ReleasedMemory } from "./released-memory.js";
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

/** Unused segments, which the stores of several pools can share. */
export function createSpareSegments(): SpareBuffers {
  return new SpareBuffers(SEGMENT_BYTES, MAX_SPARE);
}

interface Segment {
  readonly bytes: Buffer;
  /** From the spare ones: nothing else refers to its buffer. */
  readonly isOwn: boolean;
  readonly isShared: boolean;
  /** Bytes of live records and references in it. */
  live: number;
  isSparse: boolean;
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
  /** Bytes of live records and references in it. */
  readonly live: number;
}

export interface SegmentStats {
  readonly segments: number;
  readonly bytes: number;
  readonly liveBytes: number;
}

/**
 * Memory for records: adopted receive buffers, and segments into which single
 * records are copied, so that a small live record does not retain a large dead
 * buffer. A segment without live bytes is freed.
 */
export class Segments {
  readonly #spare: SpareBuffers;
  readonly #released: ReleasedMemory;
  /** By number; numbers of freed segments are reused. */
  readonly #segments: (Segment | undefined)[] = [];
  readonly #free: number[] = [];
  #bytes = 0;
  #liveBytes = 0;
  /**
   * The segment that copies are appended to (-1: none), and its used bytes. It
   * is not freed while it is open.
   */
  #open = -1;
  #openUsed = 0;

  /** @param content of other segments, which must not be used afterwards */
  constructor(
    spare: SpareBuffers,
    released: ReleasedMemory,
    content?: SegmentsContent,
  ) {
    this.#spare = spare;
    this.#released = released;
    for (const [number, segment] of content?.segments.entries() ?? []) {
      this.#segments.push(undefined);
      this.#free.push(number);
      if (segment === undefined) continue;
      this.#add(Buffer.from(segment.buffer));
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
            // Each segment has its own buffer, see `adopt` and `#allocate`.
            buffer: segment.bytes.buffer,
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
    };
  }

  bytesOf(segment: number): Buffer {
    return this.#segments[segment]!.bytes;
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
    return this.#add(Buffer.from(buffer));
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
    this.#segments[segment]!.live += bytes;
    this.#liveBytes += bytes;
  }

  release(segment: number, bytes: number): void {
    this.#segments[segment]!.live -= bytes;
    this.#liveBytes -= bytes;
    this.#dropIfDead(segment);
  }

  #dropIfDead(segment: number): void {
    const { bytes, live, isOwn, isShared } = this.#segments[segment]!;
    if (live > 0 || segment === this.#open) return;
    if (isOwn) this.#spare.put(bytes.buffer as ArrayBuffer);
    else if (isShared) this.#released.add(bytes.length);
    this.#segments[segment] = undefined;
    this.#free.push(segment);
    this.#bytes -= bytes.length;
  }

  /**
   * Marks the segments that are mostly dead, if enough would be gained. Visits
   * all segments of a pool in one step: 1.2 GB are at most 4,800 segments,
   * about 50 us; a typical pool has 150.
   * @returns true when records should be moved out of the sparse segments
   */
  selectSparse(): boolean {
    const minGain = Math.max(MIN_GAIN_BYTES, this.#liveBytes * MIN_GAIN_SHARE);
    if (this.#bytes - this.#liveBytes < minGain) return false;
    const candidates = this.#segments.filter(
      (segment, number): segment is Segment =>
        segment !== undefined &&
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
      ? this.#add(Buffer.from(this.#spare.take()), true)
      : this.#add(Buffer.from(new ArrayBuffer(length)));
  }

  #add(bytes: Buffer, isOwn = false): number {
    const number = this.#free.pop() ?? this.#segments.length;
    const isShared = bytes.buffer instanceof SharedArrayBuffer;
    const segment = { bytes, isOwn, isShared, live: 0, isSparse: false };
    this.#segments[number] = segment;
    this.#bytes += bytes.length;
    return number;
  }
}

/** In bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}
