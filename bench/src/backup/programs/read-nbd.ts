import {
  openSources,
  type BlockSource,
  type DiskSource,
} from "@xo-server/backup";

/*
 * Reads an NBD export to nothing, as a worker reads it for a backup: the allocated parts of each region in pieces of
 * 1 MiB, as many at the same time as the source says. Its argument: a `DiskSource` as JSON.
 */

const PIECE = 1024 * 1024;
const REGION = 256 * PIECE;

const opened = await openSources(
  [{ source: JSON.parse(process.argv[2]!) as DiskSource }],
  new AbortController().signal,
);
const source = opened.contents[0] as BlockSource;
for (let start = 0; start < source.size; start += REGION)
  await readRegion(start, Math.min(REGION, source.size - start));
await opened.close();

async function readRegion(start: number, length: number): Promise<void> {
  const pieces: { offset: number; length: number }[] = [];
  for (const range of await source.allocated!(start, length))
    for (let done = 0; done < range.length; done += PIECE)
      pieces.push({
        offset: range.offset + done,
        length: Math.min(PIECE, range.length - done),
      });
  pieces.reverse();
  const read = async (): Promise<void> => {
    // As in a worker, which has it read by threads: shared memory.
    const buffer = Buffer.from(new SharedArrayBuffer(PIECE));
    for (let next = pieces.pop(); next !== undefined; next = pieces.pop())
      await source.read(next.offset, buffer.subarray(0, next.length));
  };
  await Promise.all(Array.from({ length: source.concurrency ?? 4 }, read));
}
