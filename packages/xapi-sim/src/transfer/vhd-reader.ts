import {
  checksum,
  DIFFERENCING,
  DYNAMIC,
  HEADER_SIZE,
  SECTOR,
  UNUSED,
} from "./vhd-format.js";

/** The input is not a dynamic or differencing VHD, or is incomplete. */
export class BadVhd extends Error {}

/** Reads bytes of a stream in pieces of requested lengths. */
class ByteReader {
  #rest: Buffer = Buffer.alloc(0);
  readonly #chunks: AsyncIterator<Buffer>;
  position = 0;

  constructor(body: AsyncIterable<Buffer>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  async read(count: number): Promise<Buffer> {
    if (count < 0) throw new BadVhd("its parts overlap");
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new BadVhd("it ends early");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(count);
    this.position += count;
    return all.subarray(0, count);
  }

  /** Discards bytes up to this offset of the file. */
  async skipTo(offset: number): Promise<void> {
    if (offset < this.position) throw new BadVhd("its parts overlap");
    while (this.position < offset)
      await this.read(Math.min(1 << 20, offset - this.position));
  }

  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true) continue;
  }
}

/**
 * Reads a dynamic or differencing VHD whose blocks may be in any order, as it arrives.
 * @param disk its size in bytes; `write` is called for each run of sectors that the file has
 * @throws BadVhd, also where its last footer is missing
 */
export async function readVhd(
  body: AsyncIterable<Buffer>,
  disk: {
    readonly size: number;
    readonly write: (offset: number, bytes: Buffer) => void;
  },
): Promise<void> {
  const reader = new ByteReader(body);
  const footer = await reader.read(SECTOR);
  const headerAt = readFooter(footer, disk.size);
  await reader.skipTo(headerAt);
  const header = await reader.read(HEADER_SIZE);
  if (header.toString("latin1", 0, 8) !== "cxsparse" || !isWhole(header, 36))
    throw new BadVhd("its header is damaged");
  await reader.skipTo(Number(header.readBigUInt64BE(16)));
  const entries = header.readUInt32BE(28);
  const blockSize = header.readUInt32BE(32);
  const table = await reader.read(entries * 4);
  for (const { index, sector } of blocksIn(table)) {
    await reader.skipTo(sector * SECTOR);
    const bits = Math.ceil(blockSize / SECTOR / 8 / SECTOR) * SECTOR;
    const bitmap = Buffer.from(await reader.read(bits));
    const block = await reader.read(blockSize);
    for (const [first, end] of runsOf(bitmap, blockSize / SECTOR))
      disk.write(
        index * blockSize + first * SECTOR,
        block.subarray(first * SECTOR, end * SECTOR),
      );
  }
  await readLastFooter(reader, footer);
}

/** @returns where the header is */
function readFooter(footer: Buffer, size: number): number {
  if (footer.toString("latin1", 0, 8) !== "conectix")
    throw new BadVhd("no cookie");
  if (!isWhole(footer, 64)) throw new BadVhd("its footer is damaged");
  const type = footer.readUInt32BE(60);
  if (type !== DYNAMIC && type !== DIFFERENCING)
    throw new BadVhd(`disk type ${type}`);
  if (Number(footer.readBigUInt64BE(48)) > size)
    throw new BadVhd("it is larger than the disk");
  return Number(footer.readBigUInt64BE(16));
}

function isWhole(bytes: Buffer, at: number): boolean {
  const rest = Buffer.from(bytes);
  rest.writeUInt32BE(0, at);
  return checksum(rest) === bytes.readUInt32BE(at);
}

function blocksIn(
  table: Buffer,
): readonly { readonly index: number; readonly sector: number }[] {
  const blocks = [];
  for (let index = 0; index * 4 < table.length; index++) {
    const sector = table.readUInt32BE(index * 4);
    if (sector !== UNUSED) blocks.push({ index, sector });
  }
  return blocks.sort((a, b) => a.sector - b.sector);
}

/** Runs of set bits, from the first to behind the last. */
function* runsOf(bitmap: Buffer, sectors: number): Generator<[number, number]> {
  const isSet = (bit: number) =>
    (bitmap[bit >> 3]! & (0x80 >> (bit & 7))) !== 0;
  for (let at = 0; at < sectors; at++) {
    if (!isSet(at)) continue;
    const first = at;
    while (at < sectors && isSet(at)) at++;
    yield [first, at];
  }
}

/** Between the table and the footer there may be unreferenced data. */
async function readLastFooter(
  reader: ByteReader,
  footer: Buffer,
): Promise<void> {
  // The table ends anywhere in its last sector; without blocks nothing follows it.
  await reader.skipTo(Math.ceil(reader.position / SECTOR) * SECTOR);
  for (;;) {
    const sector = await reader.read(SECTOR);
    if (sector.equals(footer)) break;
  }
  await reader.drain();
}
