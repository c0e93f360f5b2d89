import type { Logger, WallClock } from "@xo-server/kit";
import type { FeedCursor, FeedReader, Frame, ViewFeed } from "./catalog.js";
import { EncodedFrame, type FrameContent } from "./frame.js";

interface FrameRingOptions {
  readonly feedId: string;
  /** Bound of the retained frames in bytes. */
  readonly limit: number;
  readonly clock: Pick<WallClock, "now">;
  readonly logger: Pick<Logger, "error">;
}

/**
 * A reader that is further behind reads all objects again. Without this bound
 * memory would grow to the limit in bytes, however few changes there are, while one
 * reader is slow.
 */
const MAX_AGE_MS = 5 * 60_000;

/**
 * Assigns revisions to changes of views, retains the frames that a subscriber has
 * not read yet, and notifies subscribers.
 */
export class FrameRing implements ViewFeed {
  readonly #options: FrameRingOptions;
  readonly #listeners = new Map<(frame: Frame) => void, FeedReader>();
  #frames: (EncodedFrame | undefined)[] = [];
  /** Of each frame, in milliseconds of the clock. */
  #pushedAt: number[] = [];
  /** Index of the oldest retained frame; the array is trimmed in bulk. */
  #oldestIndex = 0;
  #bytes = 0;
  #revision = 0;
  /** All subscribers have read the frames up to this revision, when the last one was pushed. */
  #readRevision = 0;

  constructor(options: FrameRingOptions) {
    this.#options = options;
  }

  get feedId(): string {
    return this.#options.feedId;
  }

  /** Revision of the last change; 0 before the first. */
  get revision(): number {
    return this.#revision;
  }

  get byteLength(): number {
    return this.#bytes;
  }

  get hasSubscribers(): boolean {
    return this.#listeners.size > 0;
  }

  /**
   * Assigns revisions to changes without subscribers. Earlier frames are
   * dropped: a reader of these would miss the changes.
   * @returns the first revision
   */
  skip(count: number): number {
    const first = this.#revision + 1;
    this.#revision += count;
    for (const frame of this.#frames)
      if (frame !== undefined) frame.onGrow = () => undefined;
    this.#frames = [];
    this.#pushedAt = [];
    this.#oldestIndex = 0;
    this.#bytes = 0;
    return first;
  }

  /** Assigns revisions to the changes. `notify` must follow. */
  push(content: Omit<FrameContent, "first">): Frame {
    const frame = new EncodedFrame({ ...content, first: this.#revision + 1 });
    this.#revision = frame.last;
    this.#frames.push(frame);
    this.#pushedAt.push(this.#options.clock.now());
    this.#bytes += frame.byteLength;
    frame.onGrow = (bytes) => {
      this.#bytes += bytes;
      this.#trim();
    };
    this.#readRevision = this.#lowestRead();
    this.#trim();
    return frame;
  }

  /**
   * Calls all subscribers. An error of one is logged and does not affect
   * others.
   */
  notify(frame: Frame): void {
    for (const listener of this.#listeners.keys())
      try {
        listener(frame);
      } catch (error) {
        this.#options.logger.error("a listener of the catalog failed", {
          error,
        });
      }
  }

  since({ feedId, revision }: FeedCursor): readonly Frame[] | "resync" {
    if (feedId !== this.feedId || !(revision <= this.#revision))
      return "resync";
    if (revision === this.#revision) return [];
    const oldest = this.#frames[this.#oldestIndex];
    if (oldest === undefined || revision < oldest.first - 1) return "resync";
    const frames = this.#frames.slice(this.#indexAfter(revision));
    return frames as EncodedFrame[];
  }

  subscribe(
    listener: (frame: Frame) => void,
    reader: FeedReader = {},
  ): () => void {
    this.#listeners.set(listener, reader);
    return () => this.#listeners.delete(listener);
  }

  #lowestRead(): number {
    let lowest = Infinity;
    for (const { readRevision } of this.#listeners.values())
      lowest = Math.min(lowest, readRevision?.() ?? 0);
    return lowest;
  }

  /** Index of the first frame with a change after `revision`. */
  #indexAfter(revision: number): number {
    let low = this.#oldestIndex;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#frames[middle]!.last > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #trim(): void {
    const { limit, clock } = this.#options;
    const tooOld = clock.now() - MAX_AGE_MS;
    for (;;) {
      const frame = this.#frames[this.#oldestIndex];
      if (frame === undefined) break;
      const isNeeded =
        frame.last > this.#readRevision &&
        this.#pushedAt[this.#oldestIndex]! >= tooOld;
      if (isNeeded && this.#bytes <= limit) break;
      this.#bytes -= frame.byteLength;
      // A subscriber that still uses the frame may encode it; that no longer
      // counts here.
      frame.onGrow = () => undefined;
      this.#frames[this.#oldestIndex++] = undefined;
    }
    if (this.#oldestIndex < 64 || this.#oldestIndex < this.#frames.length / 2)
      return;
    this.#frames = this.#frames.slice(this.#oldestIndex);
    this.#pushedAt = this.#pushedAt.slice(this.#oldestIndex);
    this.#oldestIndex = 0;
  }
}
