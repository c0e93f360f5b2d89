/** New segments for records that are copied; a longer record gets one of its own. */
const SEGMENT_BYTES = 256 * 1024;
/** A segment with more than this share dead is worth emptying. */
const DEAD_SHARE = 1 / 4;
/** Emptying starts when this share of what is held could be won. */
const WORTH_SHARE = 1 / 10;
const WORTH_BYTES = 256 * 1024;

interface Segment {
  readonly bytes: Buffer;
  /** Bytes that a live record or its reference stands in. */
  live: number;
  condemned: boolean;
}

export interface SegmentStats {
  readonly segments: number;
  readonly bytes: number;
  readonly liveBytes: number;
}

/**
 * Where the bytes of records live: received buffers, kept as they came, and
 * segments into which single records are copied, so that a small live record
 * does not hold a large dead buffer. A segment goes when nothing in it lives.
 */
export class Segments {
  /** By number; numbers of segments that went are used again. */
  readonly #segments: (Segment | undefined)[] = [];
  readonly #free: number[] = [];
  #bytes = 0;
  #liveBytes = 0;
  /** The segment that copies go to, and how far it is filled. */
  #open = -1;
  #openUsed = 0;

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

  isCondemned(segment: number): boolean {
    return this.#segments[segment]!.condemned;
  }

  /** Keeps a received buffer. Whoever fills it retains a byte first, lest it goes meanwhile. */
  adopt(buffer: ArrayBuffer): number {
    return this.#add(Buffer.from(buffer));
  }

  /** Copies two stretches (a reference and its record) behind each other. Returns segment number; where they begin is `copiedAt`. */
  copy(from: Buffer, first: Stretch, second: Stretch): number {
    const length = first.length + second.length;
    const segment = this.#roomFor(length);
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
    this.copiedAt = at;
    return segment;
  }

  /** Where the last `copy` began in its segment. */
  copiedAt = 0;

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
    const { bytes, live } = this.#segments[segment]!;
    if (live > 0 || segment === this.#open) return;
    this.#segments[segment] = undefined;
    this.#free.push(segment);
    this.#bytes -= bytes.length;
  }

  /**
   * Marks the segments that are dead for the most part, if it is worth the walk.
   * True: records should move out of them. Looks at all of a pool's segments in
   * one go: 1.2 GB are at most 4,800 of them, some 50 us; a pool has 150 as a rule.
   */
  condemn(): boolean {
    const worth = Math.max(WORTH_BYTES, this.#liveBytes * WORTH_SHARE);
    if (this.#bytes - this.#liveBytes < worth) return false;
    const dead = this.#segments.filter(
      (segment, number): segment is Segment =>
        segment !== undefined &&
        number !== this.#open &&
        segment.live < segment.bytes.length * (1 - DEAD_SHARE),
    );
    const won = dead.reduce((sum, one) => sum + one.bytes.length - one.live, 0);
    if (won < worth) return false;
    for (const segment of dead) segment.condemned = true;
    return true;
  }

  #roomFor(length: number): number {
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
    return this.#add(Buffer.from(new ArrayBuffer(length)));
  }

  #add(bytes: Buffer): number {
    const number = this.#free.pop() ?? this.#segments.length;
    this.#segments[number] = { bytes, live: 0, condemned: false };
    this.#bytes += bytes.length;
    return number;
  }
}

export interface Stretch {
  readonly offset: number;
  readonly length: number;
}
