import { randomBytes, randomFillSync } from "node:crypto";
import t, { type Test } from "tap";
import { NbdDisk, type NbdDiskOptions } from "../src/nbd/nbd-disk.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import {
  chunkReply,
  dataAt,
  simpleReply,
  startFakeNbd,
  type FakeNbdOptions,
  type FakeNbdServer,
  type ReadReply,
} from "./fake-nbd-server.js";
import { rejectsSafely } from "./rejects-safely.js";

const KIB = 1024;
const SIZE = 1024 * KIB;
const content = randomFillSync(Buffer.alloc(SIZE));
const secret = "session=OpaqueRef:secret";

async function openDisk(
  t: Test,
  servers: readonly FakeNbdServer[],
  options: Partial<NbdDiskOptions> = {},
): Promise<NbdDisk> {
  const disk = await NbdDisk.open({
    servers,
    exportName: secret,
    size: SIZE,
    delay: async () => undefined,
    ...options,
  });
  t.teardown(() => disk.close());
  return disk;
}

async function readAll(disk: NbdDisk): Promise<Buffer> {
  const bytes = Buffer.alloc(disk.size);
  const step = 64 * KIB;
  const reads: Promise<void>[] = [];
  for (let at = 0; at < disk.size; at += step)
    reads.push(disk.read(at, bytes.subarray(at, at + step)));
  await Promise.all(reads);
  return bytes;
}

for (const isModern of [false, true])
  t.test(`reads over 4 connections, modern server: ${isModern}`, async (t) => {
    const reply: ReadReply = ({ cookie, offset, length }) => {
      const data = content.subarray(offset, offset + length);
      if (!isModern) return simpleReply(cookie, data);
      const half = length / 2;
      // The second half first, and a hole of 0 bytes of content.
      return Buffer.concat([
        chunkReply(cookie, {
          type: 1,
          payload: dataAt(offset + half, data.subarray(half)),
          done: false,
        }),
        chunkReply(cookie, {
          type: 1,
          payload: dataAt(offset, data.subarray(0, half)),
          done: false,
        }),
        chunkReply(cookie, { type: 0, payload: Buffer.alloc(0), done: true }),
      ]);
    };
    const server = await startFakeNbd(t, { content, isModern, reply });
    const disk = await openDisk(t, [server]);
    t.ok((await readAll(disk)).equals(content));
    t.same(new Set(server.names), new Set([secret]));
    t.equal(server.names.length, 4, "4 connections");
    t.same(await disk.allocated(0, SIZE), [{ offset: 0, length: SIZE }]);
  });

t.test("TLS: the pinned certificate and its subject", async (t) => {
  const { key, cert } = makeLoopbackCertificate("host.example");
  const other = makeLoopbackCertificate("host.example");
  const server = await startFakeNbd(t, { content, tls: { key, cert } });
  const open = (tls: object) =>
    openDisk(t, [{ ...server, tls } as unknown as FakeNbdServer]);
  const pinned = { certificates: cert, hostname: "host.example" };
  t.ok((await readAll(await open(pinned))).equals(content));
  await open({ fingerprints: [other.fingerprint, (await fingerprint(cert))!] });
  const refuse = (tls: object, message: RegExp) =>
    rejectsSafely(t, open(tls), "untrusted", message);
  await refuse({ certificates: other.cert }, /not the expected one/);
  await refuse({ certificates: cert, hostname: "b.example" }, /b\.example/);
  await refuse({}, /not trusted/);
  await rejectsSafely(t, open({ certificates: "x" }), "invalid", /PEM/);
  await rejectsSafely(t, openDisk(t, [server]), "transfer-failed", /TLS/);
});

async function fingerprint(cert: string): Promise<string | undefined> {
  const { X509Certificate } = await import("node:crypto");
  return new X509Certificate(cert).fingerprint256;
}

t.test("a server without TLS is refused when TLS is expected", async (t) => {
  const { cert } = makeLoopbackCertificate();
  const server = await startFakeNbd(t, { content });
  const tls = { certificates: cert };
  await rejectsSafely(
    t,
    openDisk(t, [{ ...server, tls } as unknown as FakeNbdServer]),
    "untrusted",
    /no TLS/,
  );
});

t.test("failed blocks are read again, on another server too", async (t) => {
  const failing = await startFakeNbd(t, {
    content,
    reply: ({ cookie, offset, length, count }) =>
      count % 3 === 0
        ? simpleReply(cookie, Buffer.alloc(0), 5)
        : simpleReply(cookie, content.subarray(offset, offset + length)),
  });
  t.ok((await readAll(await openDisk(t, [failing]))).equals(content));
  const broken = await startFakeNbd(t, {
    content,
    reply: ({ cookie }) => simpleReply(cookie, Buffer.alloc(0), 5),
  });
  const good = await startFakeNbd(t, { content });
  const both = await openDisk(t, [broken, good]);
  t.ok((await readAll(both)).equals(content));
  await rejectsSafely(
    t,
    readAll(await openDisk(t, [broken])),
    "transfer-failed",
    /EIO for 65536 bytes/,
  );
});

t.test("a closed connection or a lost server is replaced", async (t) => {
  const closing = await startFakeNbd(t, {
    content,
    reply: ({ cookie, offset, length, count }) =>
      count % 5 === 4
        ? "close"
        : simpleReply(cookie, content.subarray(offset, offset + length)),
  });
  t.ok((await readAll(await openDisk(t, [closing]))).equals(content));
  const first = await startFakeNbd(t, { content });
  const second = await startFakeNbd(t, { content });
  const disk = await openDisk(t, [first, second]);
  await disk.read(0, Buffer.alloc(64 * KIB));
  first.close();
  t.ok((await readAll(disk)).equals(content));
  second.close();
  await rejectsSafely(t, readAll(disk), "transfer-failed", /127\.0\.0\.1/);
  await rejectsSafely(
    t,
    openDisk(t, [first, second]),
    "transfer-failed",
    /ECONNREFUSED/,
  );
});

t.test(
  "a server that allows fewer connections is used with these",
  async (t) => {
    const server = await startFakeNbd(t, { content, maxConnections: 1 });
    t.ok((await readAll(await openDisk(t, [server]))).equals(content));
  },
);

t.test("a connection that stalls is replaced", async (t) => {
  const server = await startFakeNbd(t, {
    content,
    reply: ({ cookie, offset, length, count }) =>
      count === 2
        ? "none"
        : simpleReply(cookie, content.subarray(offset, offset + length)),
  });
  const disk = await openDisk(t, [server], { stallMs: 50 });
  t.ok((await readAll(disk)).equals(content));
});

const structured = (
  chunks: (request: {
    cookie: bigint;
    offset: number;
    length: number;
  }) => [type: number, payload: Buffer][],
): Pick<FakeNbdOptions, "isModern" | "reply"> => ({
  isModern: true,
  reply: (request) => {
    const list = chunks(request);
    return Buffer.concat(
      list.map(([type, payload], i) =>
        chunkReply(request.cookie, {
          type,
          payload,
          done: i === list.length - 1,
        }),
      ),
    );
  },
});
const part = (offset: number, length: number): [number, Buffer] => [
  1,
  dataAt(offset, content.subarray(offset, offset + length)),
];

const violations: Record<string, Partial<FakeNbdOptions>> = {
  "another magic number": { reply: () => Buffer.from("HTTP/1.1 400 Bad") },
  "a reply to no request": {
    reply: ({ length }) => simpleReply(999n, Buffer.alloc(length)),
  },
  "a structured reply that was not agreed on": {
    reply: ({ cookie, offset, length }) =>
      chunkReply(cookie, {
        type: 1,
        payload: dataAt(offset, Buffer.alloc(length)),
        done: true,
      }),
  },
  "a simple reply that was not agreed on": {
    isModern: true,
    reply: ({ cookie, length }) => simpleReply(cookie, Buffer.alloc(length)),
  },
  "less than requested": structured(({ offset, length }) => [
    part(offset, length - 512),
  ]),
  "no data": structured(() => [[0, Buffer.alloc(0)]]),
  "the same data twice": structured(({ offset, length }) => [
    part(offset, length / 2),
    part(offset, length / 2),
  ]),
  "data before the request": structured(({ offset, length }) => [
    [1, dataAt(offset - 1, Buffer.alloc(length))],
  ]),
  "more than requested": structured(({ offset, length }) => [
    [1, dataAt(offset, Buffer.alloc(length + 1))],
  ]),
  "a block status for a read": structured(() => [[5, Buffer.alloc(12)]]),
  "an error of 4 GiB": {
    isModern: true,
    reply: ({ cookie }) => {
      const header = chunkReply(cookie, {
        type: 0x8001,
        payload: Buffer.alloc(0),
        done: true,
      });
      header.writeUInt32BE(0xffff_ffff, 16);
      return header;
    },
  },
  "another greeting": { greeting: Buffer.from("NBDMAGIC\x00\x00\x42\x02") },
  "no fixed newstyle": { greeting: Buffer.from("NBDMAGICIHAVEOPT\0\0") },
};

for (const [name, options] of Object.entries(violations))
  t.test(`a violation of the protocol is an error: ${name}`, async (t) => {
    const server = await startFakeNbd(t, { content, ...options });
    // The greeting of the old style is shorter: the reader waits for the rest of it.
    const isSilent = name === "another greeting";
    const read = async (): Promise<void> => {
      const stallMs = isSilent ? 200 : 60_000;
      const disk = await openDisk(t, [server], { stallMs });
      await disk.read(64 * KIB, Buffer.alloc(64 * KIB));
    };
    await rejectsSafely(
      t,
      read(),
      isSilent ? "transfer-failed" : "source-invalid",
      /NBD/,
    );
  });

t.test("the size of the export must be that of the disk", async (t) => {
  const server = await startFakeNbd(t, { content });
  const open = (size: number) => openDisk(t, [server], { size });
  t.equal((await open(SIZE - 1000)).size, SIZE - 1000, "rounded up");
  for (const size of [SIZE + 512, 1])
    if (size > SIZE)
      await rejectsSafely(t, open(size), "source-invalid", /the disk/);
});

t.test("the end of a disk between two sectors", async (t) => {
  const server = await startFakeNbd(t, { content });
  const disk = await openDisk(t, [server], { size: SIZE - 1000 });
  const bytes = randomBytes(1048);
  await disk.read(SIZE - 2048, bytes);
  t.ok(bytes.equals(content.subarray(SIZE - 2048, SIZE - 1000)));
});

t.test("a signal ends the attempts", async (t) => {
  const server = await startFakeNbd(t, { content });
  const controller = new AbortController();
  const { signal } = controller;
  const disk = await openDisk(t, [server], { signal });
  server.close();
  controller.abort();
  await t.rejects(readAll(disk), { name: "AbortError" });
});
