import { NbdDisk } from "../nbd/nbd-disk.js";
import { checkStatus, openEndpoint } from "../net/http-client.js";
import { VhdStream } from "../vhd/vhd-stream.js";
import {
  RawImage,
  type BlockSource,
  type BlockStream,
} from "../write/block-source.js";
import { XvaArchive } from "../xva/xva-archive.js";
import type { DiskSource, StreamSource } from "./disk-source.js";
import { RawStream } from "./raw-stream.js";

/** A disk that is to be read. */
export interface SourceDisk {
  readonly source: DiskSource;
  /** Bytes; the source must have this size; undefined: an image, or a raw stream with `maxSize`. */
  readonly size?: number | undefined;
  /** Whether a stream has only changes. */
  readonly delta?: boolean | undefined;
}

/** The contents of disks, and what ends their use. */
interface OpenSources {
  /** In the order of the disks. */
  readonly contents: readonly (BlockSource | BlockStream)[];
  close(): Promise<void>;
}

/**
 * Disks of the same XVA share one request.
 * @throws RepositoryError `invalid`, `untrusted`, `transfer-failed`, `source-invalid`
 */
export async function openSources(
  disks: readonly SourceDisk[],
  signal: AbortSignal,
): Promise<OpenSources> {
  const contents: (BlockSource | BlockStream)[] = [];
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing) await one();
  };
  const archives = openArchives(disks, signal);
  for (const archive of new Set(archives.values()))
    closing.push(() => archive.close());
  try {
    for (const disk of disks) {
      const { source, size } = disk;
      if (source.type === "stream") {
        const archive = archives.get(disk);
        contents.push(archive?.disk(source.vdi ?? "") ?? openStream(disk));
        continue;
      }
      const opened =
        source.type === "image"
          ? await RawImage.open(source.path, source.size ?? size)
          : await NbdDisk.open({ ...source, size, signal });
      closing.push(() => opened.close());
      contents.push(opened);
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { contents, close };
}

/** The archive that a disk is in, for each disk in an XVA. */
function openArchives(
  disks: readonly SourceDisk[],
  signal: AbortSignal,
): Map<SourceDisk, XvaArchive> {
  const groups = new Map<string, SourceDisk[]>();
  for (const disk of disks) {
    const { source } = disk;
    if (source.type !== "stream" || source.format !== "xva") continue;
    const { url, headers, tls } = source;
    const key = JSON.stringify([url, headers, tls]);
    groups.set(key, [...(groups.get(key) ?? []), disk]);
  }
  const archives = new Map<SourceDisk, XvaArchive>();
  for (const group of groups.values()) {
    const archive = new XvaArchive({
      open: () => download(group[0]!.source as StreamSource, signal),
      disks: group.map(({ source, size = 0 }) => ({
        vdi: (source as StreamSource).vdi ?? "",
        size,
      })),
    });
    for (const disk of group) archives.set(disk, archive);
  }
  return archives;
}

/** The request is sent when the disk's turn comes: a server may not wait for it. */
function openStream({ source, size, delta = false }: SourceDisk): BlockStream {
  const stream = source as StreamSource;
  const open = (signal?: AbortSignal): AsyncIterable<Buffer> =>
    download(stream, signal);
  return stream.format === "vhd"
    ? new VhdStream({ open, size: size ?? 0, isDelta: delta })
    : new RawStream(size ?? { maxSize: stream.maxSize ?? 0 }, open);
}

/** @param size bytes of the disk */
export function openVhd(source: StreamSource, size: number): VhdStream {
  const open = (signal?: AbortSignal) => download(source, signal);
  return new VhdStream({ open, size, isDelta: false });
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
