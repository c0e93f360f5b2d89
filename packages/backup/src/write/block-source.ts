import { open, type FileHandle } from "node:fs/promises";

/** The content of a disk. */
export interface BlockSource {
  /** Bytes. */
  readonly size: number;
  /** Fills a buffer from an offset; the range is within the disk. */
  read(offset: number, into: Buffer): Promise<void>;
}

/** A raw image in a file or a block device. */
export class RawImage implements BlockSource {
  readonly size: number;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /** @param size in bytes, for a block device whose size the system does not report */
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
