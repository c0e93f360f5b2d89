import { createHash } from "node:crypto";
import { BufferPool } from "../buffer-pool.js";
import { ByteStream } from "../vhd/byte-stream.js";
import type { BlockStream, StreamPart } from "../write/block-source.js";
import { readDiskFolders } from "./ova-disks.js";
import { TarReader, type TarEntry } from "./tar-reader.js";
import { invalid } from "./xva-error.js";
import { xxh64 } from "./xxh64.js";

/** Of a disk, in each file. */
const BLOCK = 1024 * 1024;
/** Of ova.xml: XAPI's records of a VM have some 100 KiB. */
const MAX_OVA = 16 * 1024 * 1024;
/** Of a checksum, in hexadecimal digits. */
const MAX_CHECKSUM = 128;

const CHECKSUMS: Readonly<Record<string, (block: Buffer) => string>> = {
  // Since XenServer 8.3 and XCP-ng 8.3.
  xxhash: xxh64,
  checksum: (block) => createHash("sha1").update(block).digest("hex"),
};

export interface XvaStreamOptions {
  /** Opens the stream; called once. */
  readonly open: (signal?: AbortSignal) => AsyncIterable<Uint8Array>;
  /** UUID of the disk, as ova.xml has it. */
  readonly vdi: string;
  /** Bytes of the disk. */
  readonly size: number;
}

/**
 * One disk of an XVA, XAPI's export of a VM: a tar archive of ova.xml and of
 * blocks of 1 MiB, `Ref:7/00000003`, each followed by its checksum,
 * `Ref:7/00000003.xxhash` (XXH64) or `.checksum` (SHA-1). Blocks of zeros are left out, the
 * first and the last one never; an empty file in the place of a block holds
 * the connection open (xen-api, ocaml/xapi/stream_vdi.ml).
 *
 * A block is passed on when its checksum was compared. Other disks of the archive are skipped.
 */
export class XvaStream implements BlockStream {
  readonly size: number;
  readonly isOrdered = true;
  readonly total = undefined;
  readonly #options: XvaStreamOptions;
  readonly #pool = new BufferPool(BLOCK);

  constructor(options: XvaStreamOptions) {
    this.size = options.size;
    this.#options = options;
  }

  /**
   * What was passed on counts only if the generator ends without an error.
   * @throws RepositoryError `source-invalid` if the archive is cut, damaged or has not the whole disk
   */
  async *parts(signal?: AbortSignal): AsyncGenerator<StreamPart, void> {
    const stream = new ByteStream(this.#options.open(signal));
    try {
      const tar = new TarReader(stream);
      const folder = await this.#readFolder(tar);
      const lastBlock = Math.max(0, Math.ceil(this.size / BLOCK) - 1);
      let last = -1;
      for (
        let entry = await tar.next();
        entry !== undefined;
        entry = await tar.next()
      ) {
        const index = blockOf(entry.name, folder);
        if (index === undefined) continue;
        if (index <= last || index > lastBlock)
          throw invalid(`${entry.name} follows block ${last} of ${lastBlock}`);
        if (index > 0 && last < 0) throw missing(0);
        const buffer = this.#pool.take();
        const bytes = buffer.subarray(0, this.#lengthOf(entry, index));
        await tar.readInto(bytes);
        await compareChecksum(tar, entry.name, bytes);
        const release = (): void => this.#pool.release(buffer);
        if (bytes.length === 0) {
          release();
          continue;
        }
        last = index;
        yield { offset: index * BLOCK, bytes, release };
      }
      if (this.size > 0 && last !== lastBlock) throw missing(lastBlock);
    } finally {
      await stream.close();
    }
  }

  /** Where the blocks of the disk are. */
  async #readFolder(tar: TarReader): Promise<string> {
    const first = await tar.next();
    if (first?.name !== "ova.xml" || first.size > MAX_OVA)
      throw invalid("it does not begin with ova.xml");
    const ova = Buffer.allocUnsafe(first.size);
    await tar.readInto(ova);
    const { vdi } = this.#options;
    const folder = readDiskFolders(ova.toString()).get(vdi);
    if (folder === undefined) throw invalid(`ova.xml has no disk ${vdi}`);
    return folder;
  }

  #lengthOf({ name, size }: TarEntry, index: number): number {
    const expected = Math.min(BLOCK, this.size - index * BLOCK);
    if (size !== expected && size !== 0)
      throw invalid(`${name} has ${size} bytes instead of ${expected}`);
    return size;
  }
}

/** @returns undefined: not a block of this folder */
function blockOf(name: string, folder: string): number | undefined {
  if (!name.startsWith(`${folder}/`)) return undefined;
  const rest = name.slice(folder.length + 1);
  // Its checksum was read with the block before.
  if (!/^\d{1,15}$/.test(rest)) throw invalid(`${name} is not a block`);
  return Number(rest);
}

async function compareChecksum(
  tar: TarReader,
  block: string,
  bytes: Buffer,
): Promise<void> {
  const entry = await tar.next();
  const { name = "", size = 0 } = entry ?? {};
  const hash = name.startsWith(`${block}.`)
    ? CHECKSUMS[name.slice(block.length + 1)]
    : undefined;
  if (hash === undefined || size > MAX_CHECKSUM)
    throw invalid(`${block} has no checksum`);
  const text = Buffer.alloc(size);
  await tar.readInto(text);
  if (text.toString("latin1").trim() !== hash(bytes))
    throw invalid(`${block} is damaged: its checksum is another one`);
}

function missing(block: number): Error {
  return invalid(`it ends without block ${block} of the disk`);
}
