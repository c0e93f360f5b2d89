const SECTOR = 512;
const UNUSED = 0xffffffff;

/** Thrown for what is no dynamic VHD. */
export class BadVhd extends Error {}

/** Reads bytes as they arrive, a number at a time. */
class Taker {
  #rest: Buffer = Buffer.alloc(0);
  readonly #chunks: AsyncIterator<Buffer>;
  taken = 0;

  constructor(body: AsyncIterable<Buffer>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new BadVhd("it breaks off");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = Buffer.concat(parts);
    this.#rest = all.subarray(count);
    this.taken += count;
    return all.subarray(0, count);
  }

  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true) continue;
  }
}

/**
 * Reads a dynamic VHD whose blocks are in file order, as XAPI does.
 * @param write called for each block with its offset on the disk and its bytes
 */
export async function readVhd(
  body: AsyncIterable<Buffer>,
  write: (offset: number, bytes: Buffer) => void,
): Promise<void> {
  const taker = new Taker(body);
  const footer = await taker.take(SECTOR);
  if (footer.toString("latin1", 0, 8) !== "conectix")
    throw new BadVhd("no cookie");
  const headerAt = Number(footer.readBigUInt64BE(16));
  await taker.take(headerAt - taker.taken);
  const header = await taker.take(1024);
  const tableAt = Number(header.readBigUInt64BE(16));
  const [entries, blockSize] = [
    header.readUInt32BE(28),
    header.readUInt32BE(32),
  ];
  await taker.take(tableAt - taker.taken);
  const table = await taker.take(entries * 4);
  const blocks = Array.from({ length: entries }, (_, index) => ({
    index,
    sector: table.readUInt32BE(index * 4),
  }))
    .filter(({ sector }) => sector !== UNUSED)
    .sort((a, b) => a.sector - b.sector);
  const bitmap = Math.ceil(blockSize / SECTOR / 8 / SECTOR) * SECTOR;
  for (const { index, sector } of blocks) {
    await taker.take(sector * SECTOR - taker.taken + bitmap);
    write(index * blockSize, await taker.take(blockSize));
  }
  await taker.drain();
}
