import * as zlib from "node:zlib";
import { Readable, Transform } from "node:stream";

/** What a zstd stream begins with. */
export const ZSTD_MAGIC = 0xfd2fb528;
/** The largest block, and a window of as much. */
const BLOCK = 128 * 1024;
const RAW = 0;
const RLE = 1;

/**
 * Packs as zstd without matching, except for runs of one byte: any reader
 * accepts it, and disks are mostly zeros. (Node 20 has no zstd.)
 */
export function createZstdPacker(): Transform {
  let begun = false;
  const head = (): Buffer[] => {
    if (begun) return [];
    begun = true;
    // Magic, no content size, no checksum; a window of 128 KiB.
    const bytes = Buffer.alloc(6);
    bytes.writeUInt32LE(ZSTD_MAGIC);
    bytes[5] = 7 << 3;
    return [bytes];
  };
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const parts = head();
      for (let at = 0; at < chunk.length; at += BLOCK)
        parts.push(...block(chunk.subarray(at, at + BLOCK)));
      done(null, Buffer.concat(parts));
    },
    flush(done) {
      done(null, Buffer.concat([...head(), blockHead(0, RAW, true)]));
    },
  });
}

function block(bytes: Buffer): readonly Buffer[] {
  const first = bytes[0]!;
  const same = bytes.equals(Buffer.alloc(bytes.length, first));
  return same
    ? [blockHead(bytes.length, RLE, false), bytes.subarray(0, 1)]
    : [blockHead(bytes.length, RAW, false), bytes];
}

function blockHead(size: number, type: number, last: boolean): Buffer {
  const head = Buffer.alloc(3);
  head.writeUIntLE((size << 3) | (type << 1) | (last ? 1 : 0), 0, 3);
  return head;
}

type Decompressor = NodeJS.ReadWriteStream | undefined;

/**
 * Unpacks: all of zstd where Node can, else what `createZstdPacker` makes.
 * @throws Error for what cannot be read
 */
export function unpackZstd(body: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const { createZstdDecompress } = zlib as unknown as {
    createZstdDecompress?: () => Decompressor;
  };
  const native = createZstdDecompress?.();
  return native === undefined
    ? unpackPlain(body)
    : (Readable.from(body).pipe(native) as unknown as AsyncIterable<Buffer>);
}

async function* unpackPlain(
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  const take = async (count: number): Promise<Buffer> => {
    const parts = [rest];
    let length = rest.length;
    while (length < count) {
      const next = await chunks.next();
      if (next.done === true) throw new Error("the zstd stream breaks off");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = Buffer.concat(parts);
    rest = all.subarray(count);
    return all.subarray(0, count);
  };
  if ((await take(6))[4] !== 0) throw new Error("zstd of another make");
  for (;;) {
    const head = (await take(3)).readUIntLE(0, 3);
    const [size, type] = [head >> 3, (head >> 1) & 3];
    if (type === RAW) yield await take(size);
    else if (type === RLE) yield Buffer.alloc(size, await take(1));
    else throw new Error("zstd of another make");
    if ((head & 1) === 1) return;
  }
}
