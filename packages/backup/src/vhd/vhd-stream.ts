import { BufferPool } from "../buffer-pool.js";
import type { Range } from "../write/block-runs.js";
import type { RangedStream, StreamPart } from "../write/block-source.js";
import { ByteStream } from "./byte-stream.js";
import {
  FOOTER_SIZE,
  HEADER_SIZE,
  SECTOR_SIZE,
  START_SIZE,
  UNUSED,
  bitmapSize,
  checkStart,
  invalid,
  parseFooter,
  parseHeader,
  roundUp,
  type VhdFooter,
  type VhdHeader,
} from "./vhd-format.js";

/** The largest block allocation table, in bytes. */
const MAX_TABLE = 16 * 1024 * 1024;
/** Bytes between two structures, for example the names of parents. */
const MAX_GAP = 16 * 1024 * 1024;
/** Of a part that is passed on. */
const PART_SIZE = 1024 * 1024;
/** A VHD may be larger than its disk: storages round sizes up. */
const MAX_EXCESS = 2 * 1024 * 1024;

interface VhdStreamOptions {
  /** Opens the stream; called once. */
  readonly open: (signal?: AbortSignal) => AsyncIterable<Uint8Array>;
  /** Bytes of the disk. */
  readonly size: number;
  /** Whether the VHD has only what changed since a base. */
  readonly isDelta: boolean;
}

/** A block of the VHD. */
interface Block {
  readonly index: number;
  /** Of its bitmap, in bytes from the beginning of the file. */
  readonly offset: number;
}

/** Reads a dynamic or differencing VHD from its beginning to its end; its blocks may be in any order. */
export class VhdStream implements RangedStream {
  readonly size: number;
  isOrdered = true;
  total: number | undefined;
  ranges: readonly Range[] = [];
  readonly #options: VhdStreamOptions;
  readonly #pool = new BufferPool(PART_SIZE);

  constructor(options: VhdStreamOptions) {
    this.size = options.size;
    this.#options = options;
  }

  /**
   * What was passed on counts only if the generator ends without an error.
   * @throws RepositoryError `source-invalid`
   */
  async *parts(signal?: AbortSignal): AsyncGenerator<StreamPart, void> {
    const stream = new ByteStream(this.#options.open(signal));
    try {
      // An error in its place is shorter than a footer.
      const start = await stream.read(START_SIZE);
      checkStart(start);
      const more = await stream.read(FOOTER_SIZE - START_SIZE);
      const footer = parseFooter(Buffer.concat([start, more]));
      this.#checkFooter(footer);
      await skipTo(stream, footer.headerOffset);
      const header = parseHeader(await stream.read(HEADER_SIZE));
      const blocks = await this.#readTable(stream, header);
      for (const block of blocks) yield* this.#readBlock(stream, block, header);
      await checkEnd(stream, footer);
    } finally {
      await stream.close();
    }
  }

  #checkFooter({ type, size }: VhdFooter): void {
    if (type === "differencing" && !this.#options.isDelta)
      throw invalid("it has only changes, the whole disk is expected");
    if (size < this.size || size - this.size >= MAX_EXCESS)
      throw invalid(`a disk of ${size} bytes, ${this.size} are expected`);
  }

  /** @returns the blocks in the order of the file */
  async #readTable(
    stream: ByteStream,
    { tableOffset, entries, blockSize }: VhdHeader,
  ): Promise<Block[]> {
    const needed = Math.ceil(this.size / blockSize);
    if (entries < needed || entries * 4 > MAX_TABLE)
      throw invalid(`a table of ${entries} entries`);
    await skipTo(stream, tableOffset);
    const table = await stream.read(entries * 4);
    const blocks: Block[] = [];
    for (let index = 0; index < entries; index++) {
      const sector = table.readUInt32BE(index * 4);
      if (sector === UNUSED) continue;
      if (index * blockSize >= roundUp(this.size, MAX_EXCESS))
        throw invalid("a block behind the end of the disk");
      blocks.push({ index, offset: sector * SECTOR_SIZE });
    }
    blocks.sort((a, b) => a.offset - b.offset);
    const length = bitmapSize(blockSize) + blockSize;
    let end = stream.position;
    let last = -1;
    const ranges: Range[] = [];
    for (const { index, offset } of blocks) {
      if (offset < end) throw invalid("blocks that overlap");
      end = offset + length;
      if (index < last) this.isOrdered = false;
      last = index;
      const rest = Math.max(0, this.size - index * blockSize);
      const size = Math.min(blockSize, rest);
      if (size > 0) ranges.push({ offset: index * blockSize, length: size });
    }
    this.ranges = ranges;
    this.total = ranges.reduce((sum, range) => sum + range.length, 0);
    return blocks;
  }

  async *#readBlock(
    stream: ByteStream,
    { index, offset }: Block,
    { blockSize }: VhdHeader,
  ): AsyncGenerator<StreamPart, void> {
    await skipTo(stream, offset);
    const bitmap = await stream.read(bitmapSize(blockSize));
    for (let done = 0; done < blockSize; done += PART_SIZE) {
      const length = Math.min(PART_SIZE, blockSize - done);
      const buffer = this.#pool.take();
      const bytes = buffer.subarray(0, length);
      await stream.readInto(bytes);
      const start = index * blockSize + done;
      const release = (): void => this.#pool.release(buffer);
      if (start >= this.size) {
        release();
        continue;
      }
      const first = done / SECTOR_SIZE;
      const count = length / SECTOR_SIZE;
      const part: StreamPart = {
        offset: start,
        bytes: bytes.subarray(0, this.size - start),
        release,
      };
      const hasSector = (sector: number): boolean =>
        hasBit(bitmap, first + sector);
      if (hasAllBits(bitmap, first, count)) yield part;
      else if (this.#options.isDelta) yield { ...part, hasSector };
      else {
        for (let sector = 0; sector < count; sector++)
          if (!hasSector(sector))
            bytes.fill(0, sector * SECTOR_SIZE, (sector + 1) * SECTOR_SIZE);
        yield part;
      }
    }
  }
}

/** The footer at the end repeats the one at the beginning. */
async function checkEnd(stream: ByteStream, first: VhdFooter): Promise<void> {
  const rest = await stream.rest(MAX_GAP);
  if (rest === undefined) throw invalid("data behind the last block");
  if (rest.length < FOOTER_SIZE)
    throw invalid(`it ends after ${stream.position} bytes, without a footer`);
  const last = parseFooter(rest.subarray(rest.length - FOOTER_SIZE));
  if (last.uuid !== first.uuid || last.size !== first.size)
    throw invalid("the footer at the end is another one");
}

async function skipTo(stream: ByteStream, offset: number): Promise<void> {
  const gap = offset - stream.position;
  if (gap < 0 || gap > MAX_GAP) throw invalid("structures that overlap");
  await stream.skip(gap);
}

function hasBit(bitmap: Buffer, bit: number): boolean {
  return (bitmap[bit >> 3]! & (0x80 >> (bit & 7))) !== 0;
}

/** @param first multiple of 8 @param count multiple of 8 */
function hasAllBits(bitmap: Buffer, first: number, count: number): boolean {
  for (let at = first >> 3; at < (first + count) >> 3; at++)
    if (bitmap[at] !== 0xff) return false;
  return true;
}
