import { NbdDisk } from "../nbd/nbd-disk.js";
import { checkStatus, openEndpoint } from "../net/http-client.js";
import { XvaStream } from "../xva/xva-stream.js";
import { VhdStream } from "../vhd/vhd-stream.js";
import {
  RawImage,
  type BlockSource,
  type BlockStream,
} from "../write/block-source.js";
import type { DiskSource, StreamSource } from "./disk-source.js";
import { RawStream } from "./raw-stream.js";

/** The content of a disk, and what ends its use. */
export interface OpenSource {
  readonly content: BlockSource | BlockStream;
  close(): Promise<void>;
}

/**
 * @param options.size bytes of the disk; the source must have this size; undefined: an image, or a raw stream with `maxSize`
 * @throws RepositoryError `invalid`, `untrusted`, `transfer-failed`, `source-invalid`
 */
export async function openSource(
  source: DiskSource,
  options: {
    readonly size: number | undefined;
    /** Whether a stream has only changes. */
    readonly isDelta: boolean;
    readonly signal: AbortSignal;
  },
): Promise<OpenSource> {
  const { size, isDelta, signal } = options;
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
      return { content: openStream(source, { size, isDelta }), close };
  }
}

/** The request is sent when the disk's turn comes: a server may not wait for it. */
function openStream(
  source: StreamSource,
  { size, isDelta }: { size: number | undefined; isDelta: boolean },
): BlockStream {
  const { format, vdi = "", maxSize = 0 } = source;
  const open = (signal?: AbortSignal): AsyncIterable<Buffer> =>
    download(source, signal);
  switch (format) {
    case "raw":
      return new RawStream(size ?? { maxSize }, open);
    case "vhd":
      return new VhdStream({ open, size: size ?? 0, isDelta });
    case "xva":
      return new XvaStream({ open, size: size ?? 0, vdi });
  }
}

async function* download(
  source: StreamSource,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void> {
  const { client, path, headers } = openEndpoint(source);
  try {
    const response = await client.send({
      method: "GET",
      path,
      headers,
      signal,
    });
    checkStatus(client.name, response);
    yield* client.read(response, signal);
  } finally {
    client.close();
  }
}

async function close(): Promise<void> {
  // A stream ends with its generator.
}
