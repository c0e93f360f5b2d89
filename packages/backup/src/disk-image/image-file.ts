import { randomUUID } from "node:crypto";
import { open, statfs, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { RepositoryError } from "../errors.js";
import { invalidSource } from "../foreign/foreign-error.js";

/** Bytes that stay free on the file system of temporary files. */
const MIN_FREE = 1024 ** 3;
/** Bytes after which the free space is read again. */
const CHECK_BYTES = 64 * 1024 ** 2;

/** A disk image in a temporary file, which is deleted when the process ends, however it ends. */
export class ImageFile {
  readonly size: number;
  readonly #file: FileHandle;

  private constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /**
   * Writes all bytes to a file without a name.
   * @param folder where it is created
   * @throws RepositoryError `no-space`: less than 1 GiB would stay free
   */
  static async receive(
    folder: string,
    bytes: AsyncIterable<Buffer>,
  ): Promise<ImageFile> {
    const path = join(folder, `image-${randomUUID()}`);
    const file = await open(path, "wx+", 0o600);
    try {
      await unlink(path);
      let size = 0;
      let checkedAt = -Infinity;
      for await (const part of bytes) {
        if (size - checkedAt >= CHECK_BYTES) {
          await checkSpace(folder);
          checkedAt = size;
        }
        await file.writeFile(part);
        size += part.length;
      }
      return new ImageFile(file, size);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** @throws RepositoryError `source-invalid`: they are behind the end */
  async read(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    await this.readInto(bytes, at);
    return bytes;
  }

  /** @throws RepositoryError `source-invalid` */
  async readInto(target: Buffer, at: number): Promise<void> {
    if ((await this.#readUpTo(target, at)) < target.length)
      throw this.endsEarly(at);
  }

  /** The error of an image that refers to bytes behind its end. */
  endsEarly(at: number): RepositoryError {
    return invalidSource(
      `the image ends after ${this.size} bytes, but refers to bytes from ${at} on: it is incomplete or damaged`,
    );
  }

  /** As many bytes as the file has there. */
  async readUpTo(at: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, await this.#readUpTo(bytes, at));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #readUpTo(target: Buffer, at: number): Promise<number> {
    if (!Number.isSafeInteger(at) || at < 0 || at >= this.size) return 0;
    let done = 0;
    while (done < target.length) {
      const { bytesRead } = await this.#file.read(
        target,
        done,
        target.length - done,
        at + done,
      );
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }
}

async function checkSpace(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize - CHECK_BYTES >= MIN_FREE) return;
  throw new RepositoryError(
    "no-space",
    `the image does not fit into ${folder}, which has to keep 1 GiB free: convert it first (qemu-img convert -O vpc -o subformat=dynamic)`,
  );
}
