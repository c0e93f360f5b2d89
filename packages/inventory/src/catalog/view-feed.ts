import type { Logger } from "@xo-server/xen-api";
import type { FeedCursor, Frame, ViewFeed } from "./catalog.js";
import { EncodedOnce, type FrameContent } from "./frame.js";

export interface FrameRingOptions {
  readonly epoch: string;
  /** Bytes of frames that are remembered. */
  readonly limit: number;
  readonly logger: Pick<Logger, "error">;
}

/** Numbers the changes of views, remembers the last frames, and tells each as it comes. */
export class FrameRing implements ViewFeed {
  readonly #options: FrameRingOptions;
  readonly #listeners = new Set<(frame: Frame) => void>();
  #frames: (EncodedOnce | undefined)[] = [];
  /** Frames before this place are forgotten; places are cut off in bulk. */
  #oldest = 0;
  #bytes = 0;
  #revision = 0;

  constructor(options: FrameRingOptions) {
    this.#options = options;
  }

  get epoch(): string {
    return this.#options.epoch;
  }

  /** Of the last change; 0 before the first. */
  get revision(): number {
    return this.#revision;
  }

  get byteLength(): number {
    return this.#bytes;
  }

  /** Gives the changes their revisions. `tell` has to follow. */
  push(content: Omit<FrameContent, "first">): Frame {
    const frame = new EncodedOnce({ ...content, first: this.#revision + 1 });
    this.#revision = frame.last;
    this.#frames.push(frame);
    this.#bytes += frame.byteLength;
    frame.onGrown = (bytes) => {
      this.#bytes += bytes;
      this.#forget();
    };
    this.#forget();
    return frame;
  }

  /** A listener that throws disturbs nobody else. */
  tell(frame: Frame): void {
    for (const listener of this.#listeners)
      try {
        listener(frame);
      } catch (error) {
        this.#options.logger.error("a listener of the catalog failed", {
          error,
        });
      }
  }

  since({ epoch, revision }: FeedCursor): readonly Frame[] | "resync" {
    if (epoch !== this.epoch || !(revision <= this.#revision)) return "resync";
    if (revision === this.#revision) return [];
    const oldest = this.#frames[this.#oldest];
    if (oldest === undefined || revision < oldest.first - 1) return "resync";
    const frames = this.#frames.slice(this.#placeAfter(revision));
    return frames as EncodedOnce[];
  }

  subscribe(listener: (frame: Frame) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The first frame with a change after `revision`. */
  #placeAfter(revision: number): number {
    let low = this.#oldest;
    let high = this.#frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#frames[middle]!.last > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #forget(): void {
    while (this.#bytes > this.#options.limit) {
      const frame = this.#frames[this.#oldest];
      if (frame === undefined) break;
      this.#bytes -= frame.byteLength;
      // Who still holds it may encode it: that is no longer ours.
      frame.onGrown = () => undefined;
      this.#frames[this.#oldest++] = undefined;
    }
    if (this.#oldest < 64 || this.#oldest < this.#frames.length / 2) return;
    this.#frames = this.#frames.slice(this.#oldest);
    this.#oldest = 0;
  }
}
