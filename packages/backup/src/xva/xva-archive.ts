import { createHash } from "node:crypto";
import { BufferPool } from "../buffer-pool.js";
import { ByteStream } from "../vhd/byte-stream.js";
import type {
  BlockStream,
  StreamPart,
  StreamSequence,
} from "../write/block-source.js";
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

interface XvaDisk {
  /** UUID, as ova.xml has it. */
  readonly vdi: string;
  /** Bytes. */
  readonly size: number;
}

interface XvaArchiveOptions {
  /** Opens the stream; called once, when the first disk is read. */
  readonly open: () => AsyncIterable<Uint8Array>;
  /** Those that are read. */
  readonly disks: readonly XvaDisk[];
}

/** A file of the archive that is a block of a disk that is read. */
interface BlockFile {
  readonly disk: XvaDisk;
  readonly index: number;
  readonly entry: TarEntry;
}

/**
 * An XVA, XAPI's export of a VM: a tar archive of ova.xml and of blocks of 1 MiB of its disks, one
 * disk after another, `Ref:7/00000003`, each followed by its checksum, `Ref:7/00000003.xxhash`
 * (XXH64) or `.checksum` (SHA-1). Blocks of zeros are left out, the first and the last one of
 * a disk never; an empty file in the place of a block holds the connection open (xen-api,
 * ocaml/xapi/stream_vdi.ml).
 *
 * It arrives once: its disks are read in the order in which they are in it. A block is passed
 * on when its checksum was compared. Other disks of the archive are skipped.
 */
export class XvaArchive implements StreamSequence {
  readonly #options: XvaArchiveOptions;
  readonly #pool = new BufferPool(BLOCK);
  readonly #streams: ReadonlyMap<string, BlockStream>;
  #stream: ByteStream | undefined;
  #opened: Promise<TarReader> | undefined;
  /** By the folder of their blocks. */
  readonly #disks = new Map<string, XvaDisk>();
  /** UUIDs of the disks that were reached, in the order of the archive. */
  readonly #reached: string[] = [];
  /** Whose header was read last. */
  #next: BlockFile | undefined;
  #hasEnded = false;
  #finding: Promise<void> | undefined;

  constructor(options: XvaArchiveOptions) {
    this.#options = options;
    this.#streams = new Map(
      options.disks.map((disk) => [
        disk.vdi,
        {
          size: disk.size,
          isOrdered: true,
          total: undefined,
          position: { sequence: this, name: disk.vdi },
          parts: () => this.#parts(disk),
        },
      ]),
    );
  }

  /**
   * One disk. What its parts hold counts only if they end without an error.
   * @param vdi one of the disks that are read
   */
  disk(vdi: string): BlockStream {
    return this.#streams.get(vdi)!;
  }

  /** @throws RepositoryError `source-invalid` if the archive is cut or damaged */
  async nameAt(index: number): Promise<string | undefined> {
    while (this.#reached.length <= index && !this.#hasEnded)
      await (this.#finding ??= this.#findDisk().finally(() => {
        this.#finding = undefined;
      }));
    return this.#reached[index];
  }

  async close(): Promise<void> {
    await this.#stream?.close();
  }

  /**
   * @throws RepositoryError `source-invalid` if the archive is cut, damaged or has not the whole disk
   */
  async *#parts(disk: XvaDisk): AsyncGenerator<StreamPart, void> {
    const lastBlock = Math.max(0, Math.ceil(disk.size / BLOCK) - 1);
    let last = -1;
    const tar = await this.#open();
    await this.#goTo(disk);
    for (
      let file = this.#takeNext(disk);
      file !== undefined;
      file = this.#takeNext(disk)
    ) {
      const { index, entry } = file;
      if (index <= last || index > lastBlock)
        throw invalid(`${entry.name} follows block ${last} of ${lastBlock}`);
      if (index > 0 && last < 0) throw missing(0);
      const buffer = this.#pool.take();
      const bytes = buffer.subarray(0, lengthOf(file));
      await tar.readInto(bytes);
      await compareChecksum(tar, entry.name, bytes);
      const release = (): void => this.#pool.release(buffer);
      if (bytes.length === 0) release();
      else {
        last = index;
        yield { offset: index * BLOCK, bytes, release };
      }
      await this.#findBlock(tar);
    }
    if (disk.size > 0 && last !== lastBlock) throw missing(lastBlock);
  }

  #open(): Promise<TarReader> {
    return (this.#opened ??= this.#readFolders());
  }

  /** Where the blocks of the disks are. */
  async #readFolders(): Promise<TarReader> {
    this.#stream = new ByteStream(this.#options.open());
    const tar = new TarReader(this.#stream);
    const first = await tar.next();
    if (first?.name !== "ova.xml" || first.size > MAX_OVA)
      throw invalid("it does not begin with ova.xml");
    const ova = Buffer.allocUnsafe(first.size);
    await tar.readInto(ova);
    const folders = readDiskFolders(ova.toString());
    for (const disk of this.#options.disks) {
      const folder = folders.get(disk.vdi);
      if (folder === undefined)
        throw invalid(`ova.xml has no disk ${disk.vdi}`);
      this.#disks.set(folder, disk);
    }
    return tar;
  }

  /** Until the disk is the last one that was reached, or the archive ends. */
  async #goTo({ vdi }: XvaDisk): Promise<void> {
    for (let i = 0; ; i++) {
      const name = await this.nameAt(i);
      if (name === vdi || name === undefined) return;
    }
  }

  /** Goes on to the next disk, or to the end. What is left of the disk before is skipped. */
  async #findDisk(): Promise<void> {
    const tar = await this.#open();
    const before = this.#reached.at(-1);
    if (this.#next === undefined) await this.#findBlock(tar);
    while (this.#next !== undefined && this.#next.disk.vdi === before)
      await this.#findBlock(tar);
    if (this.#next === undefined) return;
    const { vdi } = this.#next.disk;
    if (this.#reached.includes(vdi))
      throw invalid(`the blocks of the disk ${vdi} are not all together`);
    this.#reached.push(vdi);
  }

  /** Reads the header of the next block of a disk that is read. */
  async #findBlock(tar: TarReader): Promise<void> {
    this.#next = undefined;
    while (this.#next === undefined) {
      const entry = await tar.next();
      if (entry === undefined) {
        this.#hasEnded = true;
        return;
      }
      this.#next = this.#blockOf(entry);
    }
  }

  /** The next block, if it is of this disk. */
  #takeNext(disk: XvaDisk): BlockFile | undefined {
    const file = this.#next;
    if (file?.disk !== disk) return undefined;
    this.#next = undefined;
    return file;
  }

  /** @returns undefined: not a block of a disk that is read */
  #blockOf(entry: TarEntry): BlockFile | undefined {
    const slash = entry.name.indexOf("/");
    const disk = this.#disks.get(entry.name.slice(0, Math.max(0, slash)));
    if (disk === undefined) return undefined;
    const rest = entry.name.slice(slash + 1);
    // Its checksum was read with the block before.
    if (!/^\d{1,15}$/.test(rest)) throw invalid(`${entry.name} is not a block`);
    return { disk, index: Number(rest), entry };
  }
}

function lengthOf({ disk, index, entry: { name, size } }: BlockFile): number {
  const expected = Math.min(BLOCK, disk.size - index * BLOCK);
  if (size !== expected && size !== 0)
    throw invalid(`${name} has ${size} bytes instead of ${expected}`);
  return size;
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
