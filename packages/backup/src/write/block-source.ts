import { open, type FileHandle } from "node:fs/promises";
import type { Range } from "./block-runs.js";

/** The content of a disk, in any order. */
export interface BlockSource {
  /** Bytes. */
  readonly size: number;
  /** Reads at the same time; default 4. */
  readonly concurrency?: number;
  /** Fills a buffer with bytes of the disk. @param offset in bytes; the range is within the disk */
  read(offset: number, into: Buffer): Promise<void>;
  /** The parts of a range that may be other than zero, in order. Without this method: everything. */
  allocated?(offset: number, length: number): Promise<Range[]>;
  /** Set if several backups share this source: the same content, for ranges that only one of them reads. */
  readonly unshared?: BlockSource;
}

/** The content of a disk, or what changed of it, in the order in which it arrives. */
export interface BlockStream {
  /** Bytes of the disk. */
  readonly size: number;
  /** Whether offsets ascend: then few regions are in memory. Known with the first part. */
  readonly isOrdered: boolean;
  /** Bytes of all parts; undefined: not known yet. */
  readonly total: number | undefined;
  /** Set if several disks arrive one after another in one stream. */
  readonly position?: SequencePosition;
  /** What is in no part is unchanged, or zero without a base. Can be called once. */
  parts(signal?: AbortSignal): AsyncGenerator<StreamPart, void>;
}

/** A stream that says at its beginning which ranges of the disk follow. */
export interface RangedStream extends BlockStream {
  /** In the order of the stream; known with the first part, or at the end of a stream without parts. */
  readonly ranges: readonly Range[];
}

/** Disks that arrive one after another: each has to be read to its end before the next one. */
export interface StreamSequence {
  /**
   * The name of the disk that arrives at this position, from 0; undefined: no further one. Those
   * before it were read.
   */
  nameAt(index: number): Promise<string | undefined>;
}

/** A disk of a sequence. */
export interface SequencePosition {
  readonly sequence: StreamSequence;
  readonly name: string;
}

/** Whole blocks (only the last one of a disk may be shorter), within one multiple of 1 MiB. */
export interface StreamPart {
  readonly offset: number;
  readonly bytes: Buffer;
  /** Whether a sector of 512 bytes of `bytes` has data; undefined: all have. The others are those of the base. */
  readonly hasSector?: (sector: number) => boolean;
  /** Called when `bytes` are not needed any more. */
  readonly release?: () => void;
}

/** A raw image in a file or a block device. */
export class RawImage implements BlockSource {
  readonly size: number;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /**
   * @param size in bytes, for a block device whose size the system does not report
   * @throws Error of the file system
   */
  static async open(path: string, size?: number): Promise<RawImage> {
    const file = await open(path, "r");
    return new RawImage(file, size ?? (await file.stat()).size);
  }

  async read(offset: number, into: Buffer): Promise<void> {
    for (let done = 0; done < into.length;) {
      const { bytesRead } = await this.#file.read(
        into,
        done,
        into.length - done,
        offset + done,
      );
      if (bytesRead === 0)
        throw new Error(
          `the image ends at ${offset + done} bytes, before its size of ${this.size}`,
        );
      done += bytesRead;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}
