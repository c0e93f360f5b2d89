import { randomBytes } from "node:crypto";
import t from "tap";
import {
  RAW,
  ZSTD,
  compressChunk,
  decompressChunk,
} from "../src/format/compression.js";
import { ZstdThreads } from "../src/format/zstd-threads.js";

const KIB = 1024;

/** Text that can be compressed, different for each number. */
function plainOf(number: number, size: number): Buffer {
  return Buffer.alloc(size, `line ${number} of some text; `);
}

t.test("chunks are compressed where that saves something", async (t) => {
  const text = plainOf(1, 64 * KIB);
  const { method, stored } = await compressChunk(text);
  t.equal(method, ZSTD);
  t.ok(stored.length < 4 * KIB);
  const back = await decompressChunk(ZSTD, Buffer.from(stored), text.length);
  t.ok(back.equals(text));
  const noise = randomBytes(64 * KIB);
  const kept = await compressChunk(noise);
  t.equal(kept.method, RAW);
  t.equal(kept.stored, noise);
});

t.test("bytes that are no chunk of the size are refused", async (t) => {
  const { stored } = await compressChunk(plainOf(1, 64 * KIB));
  const bytes = Buffer.from(stored);
  await t.rejects(decompressChunk(ZSTD, bytes, 32 * KIB));
  await t.rejects(decompressChunk(ZSTD, bytes.subarray(0, 20), 64 * KIB));
  await t.rejects(decompressChunk(ZSTD, randomBytes(100), 64 * KIB));
  await t.rejects(decompressChunk(7, bytes, 64 * KIB), /method 7/);
});

t.test("many at the same time, of any size, are not mixed up", async (t) => {
  // As where Node.js has no zstd; more requests than threads take at once.
  const threads = new ZstdThreads(2);
  const plain = Array.from({ length: 40 }, (_, i) =>
    plainOf(i, i === 20 ? 2048 * KIB : 64 * KIB + i),
  );
  const outcomes = await Promise.all(
    plain.map(async (bytes, i) => {
      const stored = await threads.run(bytes, { type: "compress", level: 1 });
      if (i % 8 === 7) {
        const cut = stored.subarray(0, 20);
        const task = { type: "decompress", size: bytes.length } as const;
        await t.rejects(threads.run(cut, task), `${i} was cut`);
      }
      const size = bytes.length;
      const back = await threads.run(stored, { type: "decompress", size });
      return Buffer.from(back).equals(bytes);
    }),
  );
  t.ok(outcomes.every(Boolean));
});
