import { decodeFrame, type SnapshotFrame } from "./frame.js";
import { HEAD_BYTES } from "./file-head.js";
import type { FrameSource } from "./frame-source.js";
import type { DecryptedFrame } from "./read-frame.js";

/**
 * Reads the frames of a file and stops at the first one that is incomplete or
 * cannot be decrypted. One frame is read ahead of the one that the caller
 * processes; a frame has 1 to 2 MB.
 */
export class FrameReader {
  readonly #source: FrameSource;
  #validBytes = HEAD_BYTES;
  #frameCount = 0;

  constructor(source: FrameSource) {
    this.#source = source;
  }

  /**
   * Size of the valid part of the file: offset behind the last frame that was
   * returned.
   */
  get validBytes(): number {
    return this.#validBytes;
  }

  /** Number of frames that were returned. */
  get frameCount(): number {
    return this.#frameCount;
  }

  /**
   * All valid frames in order.
   * @throws Error the file cannot be read
   */
  async *frames(): AsyncGenerator<SnapshotFrame, void, undefined> {
    let next = this.#read();
    try {
      for (;;) {
        const parts = await next;
        const frame = parts && toFrame(parts);
        if (parts === undefined || frame === undefined) return;
        this.#validBytes = parts.end;
        this.#frameCount++;
        next = this.#read();
        // The next turn reports it; until then it must not count as unhandled.
        next.catch(() => undefined);
        yield frame;
      }
    } finally {
      // The file may be closed when it is not being read any more. A caller that
      // stops early needs no further frame, nor its error.
      await next.catch(() => undefined);
    }
  }

  #read(): Promise<DecryptedFrame | undefined> {
    return this.#source.read({
      at: this.#validBytes,
      sequence: this.#frameCount,
    });
  }
}

/** Undefined when the index has another form, as nothing that this version wrote has. */
function toFrame({
  index,
  records,
}: DecryptedFrame): SnapshotFrame | undefined {
  try {
    return decodeFrame(index, records);
  } catch {
    return undefined;
  }
}
