import { RepositoryError } from "../errors.js";
import { NbdDisk } from "../nbd/nbd-disk.js";
import {
  RawImage,
  type BlockSource,
  type BlockStream,
} from "../write/block-source.js";
import type { DiskSource } from "./disk-source.js";

/** The content of a disk, and what ends its use. */
export interface OpenSource {
  readonly content: BlockSource | BlockStream;
  close(): Promise<void>;
}

/**
 * @param options.size bytes of the disk; the source must have this size
 * @throws RepositoryError `invalid`, `untrusted`, `transfer-failed`, `source-invalid`
 */
export async function openSource(
  source: DiskSource,
  { size, signal }: { size: number | undefined; signal: AbortSignal },
): Promise<OpenSource> {
  switch (source.type) {
    case "image": {
      const image = await RawImage.open(source.path, source.size ?? size);
      return { content: image, close: () => image.close() };
    }
    case "nbd": {
      const disk = await NbdDisk.open({ ...source, size, signal });
      return { content: disk, close: () => disk.close() };
    }
    case "stream":
      throw new RepositoryError("unsupported", "source: stream");
  }
}
