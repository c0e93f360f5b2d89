import * as zlib from "node:zlib";
import { spawn } from "node:child_process";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";

/** What a zstd stream begins with. */
export const ZSTD_MAGIC = 0xfd2fb528;
/** The largest block, and a window of as much. */
const BLOCK = 128 * 1024;
/** The byte that says so. */
const WINDOW = 7 << 3;
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
    bytes[5] = WINDOW;
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
    ? unpackFrame(body)
    : (Readable.from(body).pipe(native) as unknown as AsyncIterable<Buffer>);
}

/** Data compressed by others is decompressed by the program `zstd`, as in XAPI itself. */
async function* unpackFrame(
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const chunks = body[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  while (head.length < 6) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const all = (async function* () {
    yield head;
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return;
      yield next.value;
    }
  })();
  const isOwn = head[4] === 0 && head[5] === WINDOW;
  yield* isOwn ? unpackPlain(all) : unpackByProgram(all);
}

async function* unpackByProgram(
  body: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  const program = spawn("zstd", ["-dc"], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve, reject) => {
    program.on("error", reject);
    program.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error("the zstd stream cannot be read"));
    });
  });
  const fed = pipeline(Readable.from(body), program.stdin);
  const outcome = Promise.all([ended, fed]);
  // It is awaited below; until then a failure waits there.
  outcome.catch(() => undefined);
  try {
    yield* program.stdout as AsyncIterable<Buffer>;
    await outcome;
  } finally {
    program.kill();
  }
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
      if (next.done === true) throw new Error("the zstd stream is incomplete");
      parts.push(next.value);
      length += next.value.length;
    }
    const all = Buffer.concat(parts);
    rest = all.subarray(count);
    return all.subarray(0, count);
  };
  await take(6);
  for (;;) {
    const head = (await take(3)).readUIntLE(0, 3);
    const [size, type] = [head >> 3, (head >> 1) & 3];
    if (type === RAW) yield await take(size);
    else if (type === RLE) yield Buffer.alloc(size, await take(1));
    else throw new Error("zstd of another make");
    if ((head & 1) === 1) return;
  }
}
