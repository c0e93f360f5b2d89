import { createCipheriv, randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import * as zlib from "node:zlib";
import t from "tap";
import {
  RAW,
  ZSTD,
  allocateForChunks,
  compressChunk,
  decompressChunk,
  identifyChunk,
} from "../src/format/compression.js";
import { ZstdInline } from "../src/format/zstd-inline.js";
import {
  ZstdThreads,
  type ZstdAnswer,
  type ZstdRequest,
} from "../src/format/zstd-threads.js";
import { chunkIdOf } from "../src/keys/derived-keys.js";

const KIB = 1024;

const COMPRESS = { type: "compress", level: 1 } as const;

/** A thread that answers and ends when the test says so. */
class FakeWorker extends EventEmitter {
  readonly requests: ZstdRequest[] = [];
  postMessage(request: ZstdRequest): void {
    this.requests.push(request);
  }
  /** With the first byte of the request, like a thread of Node.js: in the task of an event. */
  answer(index: number): void {
    const { slot, input } = this.requests[index]!;
    const output = new Uint8Array(input.subarray(0, 1));
    this.emit("message", { slot, output } satisfies ZstdAnswer);
  }
  isReferenced = true;
  /** As a thread of Node.js: a listener of messages keeps the process alive. */
  override on(event: string, listener: (...args: never[]) => void): this {
    if (event === "message") this.isReferenced = true;
    return super.on(event, listener as never);
  }
  ref(): void {
    this.isReferenced = true;
  }
  unref(): void {
    this.isReferenced = false;
  }
}

/** @returns what became of each call, in their order, when all are settled */
function outcomesOf(calls: readonly Promise<Uint8Array>[]): Promise<string[]> {
  return Promise.all(
    calls.map((call) =>
      call.then(
        (output) => `answer ${output[0]}`,
        (error: Error) => error.message,
      ),
    ),
  );
}

function fakeThreads(max = 1): {
  threads: ZstdThreads;
  workers: FakeWorker[];
} {
  const workers: FakeWorker[] = [];
  const startWorker = (): FakeWorker => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker;
  };
  return { threads: new ZstdThreads({ max, startWorker }), workers };
}

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

t.test("ids of chunks are the same in a thread and here", async (t) => {
  const key = randomBytes(32);
  const large = allocateForChunks(512 * KIB);
  plainOf(1, large.length).copy(large);
  const other = plainOf(2, 512 * KIB);
  const small = plainOf(3, 64 * KIB);
  const chunks = [large, other, small, large.subarray(0, 256 * KIB)];
  const ids = await Promise.all(chunks.map((one) => identifyChunk(one, key)));
  t.same(
    ids,
    chunks.map((one) => chunkIdOf(key, one)),
  );
});

t.test("bytes that are not a chunk of the size are refused", async (t) => {
  const { stored } = await compressChunk(plainOf(1, 64 * KIB));
  const bytes = Buffer.from(stored);
  await t.rejects(decompressChunk(ZSTD, bytes, 32 * KIB));
  await t.rejects(decompressChunk(ZSTD, bytes.subarray(0, 20), 64 * KIB));
  await t.rejects(decompressChunk(ZSTD, randomBytes(100), 64 * KIB));
  await t.rejects(decompressChunk(7, bytes, 64 * KIB), /method 7/);
});

t.test("many at the same time, of any size, are not mixed up", async (t) => {
  // As where Node.js has no zstd; more requests than threads take at once.
  const threads = new ZstdThreads({ max: 2 });
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

t.test(
  "a call is answered although the thread ends as it is assigned",
  async (t) => {
    const { threads, workers } = fakeThreads();
    const run = (n: number): Promise<Uint8Array> =>
      threads.run(Uint8Array.of(n), COMPRESS);
    // The thread takes two, the others wait.
    const calls = [1, 2, 3, 4].map(run);
    // Its exit follows the answer, when the third call was just assigned in place of the first.
    workers[0]!.answer(0);
    await calls[0];
    workers[0]!.emit("exit", 1);
    while ((workers[1]?.requests.length ?? 0) < 1) await Promise.resolve();
    workers[1]!.answer(0);
    const ended = "a thread for zstd ended with exit code 1";
    t.same(await outcomesOf(calls), ["answer 1", ended, ended, "answer 4"]);
    t.notOk(
      workers.some(({ isReferenced }) => isReferenced),
      "none keeps the process alive",
    );
  },
);

t.test(
  "calls of a thread that ended are rejected once, later ones get another",
  async (t) => {
    const { threads, workers } = fakeThreads();
    const first = threads.run(Uint8Array.of(1), COMPRESS);
    workers[0]!.emit("error", new Error("out of memory"));
    const second = threads.run(Uint8Array.of(2), COMPRESS);
    workers[0]!.emit("exit", 1);
    workers[1]!.answer(0);
    t.same(await outcomesOf([first, second]), ["out of memory", "answer 2"]);
  },
);

t.test(
  "an answer that cannot be read rejects what its thread has",
  async (t) => {
    const { threads, workers } = fakeThreads();
    const call = threads.run(Uint8Array.of(1), COMPRESS);
    workers[0]!.emit("messageerror", new Error("not readable"));
    t.same(await outcomesOf([call]), ["not readable"]);
  },
);

t.test(
  "all calls are answered when no thread can be started any more",
  async (t) => {
    const workers: FakeWorker[] = [];
    const threads = new ZstdThreads({
      max: 1,
      startWorker() {
        if (workers.length > 0) throw new Error("no more threads");
        workers.push(new FakeWorker());
        return workers[0]!;
      },
    });
    const calls = [1, 2, 3, 4].map((n) =>
      threads.run(Uint8Array.of(n), COMPRESS),
    );
    workers[0]!.emit("exit", 1);
    const ended = "a thread for zstd ended with exit code 1";
    const refused = "no more threads";
    t.same(await outcomesOf(calls), [ended, ended, refused, refused]);
  },
);

t.test("a second thread is started when there is much to do", async (t) => {
  const { threads, workers } = fakeThreads(2);
  const run = (bytes: Uint8Array): Promise<Uint8Array> =>
    threads.run(bytes, COMPRESS);
  const small = [1, 2, 3].map((n) => run(Uint8Array.of(n)));
  t.equal(workers.length, 1, "the third call waits");
  const large = new Uint8Array(8192 * KIB).fill(4);
  const calls = [...small, run(large), run(Uint8Array.of(5))];
  for (let i = 0; i < 3; i++) workers[0]!.answer(i);
  t.equal(workers.length, 2, "8 MiB were assigned before the last call");
  workers[0]!.answer(3);
  workers[1]!.answer(0);
  const answers = [1, 2, 3, 4, 5].map((n) => `answer ${n}`);
  t.same(await outcomesOf(calls), answers);
});

t.test("a chunk is decompressed into memory of the caller", async (t) => {
  const text = plainOf(1, 64 * KIB);
  const { stored } = await compressChunk(text);
  const into = allocateForChunks(64 * KIB);
  const back = await decompressChunk(ZSTD, Buffer.from(stored), 64 * KIB, into);
  t.ok(back.equals(text));
  const given = Buffer.from(into.buffer, into.byteOffset, into.length);
  if (!("zstdCompress" in zlib)) t.ok(given.equals(text), "in our own threads");
  const small = allocateForChunks(KIB);
  const large = await decompressChunk(
    ZSTD,
    Buffer.from(stored),
    64 * KIB,
    small,
  );
  t.ok(large.equals(text), "too small memory is not used");
});

t.test("few bytes need no thread, further ones get threads", async (t) => {
  const { threads, workers } = fakeThreads();
  const startThreads = (): ZstdThreads => threads;
  const inline = new ZstdInline({ maxBytes: 192 * KIB, startThreads });
  const plain = plainOf(1, 64 * KIB);
  const stored = await inline.run(plain, COMPRESS);
  t.ok(stored.length < 4 * KIB);
  const task = { type: "decompress", size: plain.length } as const;
  t.ok(Buffer.from(await inline.run(stored, task)).equals(plain));
  await t.rejects(inline.run(stored.subarray(1), task), /no zstd frame/);
  t.equal(workers.length, 0, "192 KiB are done here");
  const later = inline.run(Uint8Array.of(9), COMPRESS);
  workers[0]!.answer(0);
  t.same(await outcomesOf([later]), ["answer 9"]);
});

t.test("a thread opens a chunk, and refuses every other", async (t) => {
  // As where Node.js has no zstd.
  const threads = new ZstdThreads({ max: 1 });
  const plain = plainOf(1, 64 * KIB);
  const size = plain.length;
  const [key, idKey] = [randomBytes(32), randomBytes(32)];
  const nonce = Buffer.alloc(12, 1);
  const data = Buffer.from("entry");
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(data);
  const stored = Buffer.concat([
    cipher.update(await threads.run(plain, COMPRESS)),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const seal = { key, nonce, data, idKey, id: chunkIdOf(idKey, plain) };
  const open = (bytes: Buffer, more: object = {}, length = size) =>
    threads.run(bytes, {
      type: "open",
      seal: { ...seal, ...more },
      size: length,
    });
  t.ok(Buffer.from(await open(stored)).equals(plain));
  for (const at of [0, stored.length - 1]) {
    const flipped = Buffer.from(stored);
    flipped[at]! ^= 1;
    await t.rejects(open(flipped), /authenticate/, `byte ${at}`);
  }
  await t.rejects(open(stored.subarray(1)), /authenticate/, "cut");
  await t.rejects(open(stored, { data: Buffer.from("other") }), /authentic/);
  await t.rejects(open(stored, { nonce: Buffer.alloc(12) }), /authenticate/);
  const id = chunkIdOf(idKey, plain.subarray(1));
  await t.rejects(open(stored, { id }), /does not match the id/);
  await t.rejects(open(stored, {}, size - 1), /frame of this size/);
  await t.rejects(open(stored, {}, size + 1), /bytes instead of/);
  const into = new Uint8Array(new SharedArrayBuffer(size)).fill(9);
  const task = { type: "open", seal: { ...seal, id }, size, into } as const;
  await t.rejects(threads.run(stored, task));
  t.ok(
    into.every((byte) => byte === 9),
    "nothing unchecked is passed on",
  );
  await threads.run(stored, { ...task, seal });
  t.ok(Buffer.from(into.buffer).equals(plain));
});

t.test("a thread that was started ahead gets the first call", async (t) => {
  const { threads, workers } = fakeThreads();
  threads.prepare();
  threads.prepare();
  t.equal(workers.length, 1);
  t.equal(workers[0]!.isReferenced, false);
  const calls = [threads.run(Uint8Array.of(5), COMPRESS)];
  t.equal(workers.length, 1);
  workers[0]!.answer(0);
  t.same(await outcomesOf(calls), ["answer 5"]);
});

t.test("bytes in shared memory are not copied", async (t) => {
  const { threads, workers } = fakeThreads();
  const memory = new SharedArrayBuffer(4 * KIB);
  const bytes = new Uint8Array(memory, KIB, 2 * KIB).fill(7);
  const calls = [threads.run(bytes, COMPRESS)];
  const { byteOffset, length } = workers[0]!.requests[0]!.input;
  t.same([byteOffset, length], [KIB, 2 * KIB]);
  t.equal(workers[0]!.requests[0]!.input.buffer, memory);
  calls.push(threads.run(Uint8Array.of(8), COMPRESS));
  t.not(workers[0]!.requests[1]!.input.buffer, memory, "others are");
  for (let i = 0; i < 2; i++) workers[0]!.answer(i);
  t.same(await outcomesOf(calls), ["answer 7", "answer 8"]);
  const plain = Buffer.from(new SharedArrayBuffer(64 * KIB)).fill("some text ");
  const { method, stored } = await compressChunk(plain.subarray(KIB));
  t.equal(method, ZSTD);
  const size = 63 * KIB;
  const back = await decompressChunk(ZSTD, Buffer.from(stored), size);
  t.ok(back.equals(plain.subarray(KIB)));
});
