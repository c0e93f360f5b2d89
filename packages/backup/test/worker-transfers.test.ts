// slow
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  FolderStorage,
  Repository,
  encodeChangedBlocks,
  startWorker,
  type BackupDisk,
  type BackupOrderResult,
  type RestoreTarget,
} from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { createVhdImage } from "../src/vhd/vhd-image.js";
import { makeLoopbackCertificate } from "@xo-server/certificate";
import { startFakeNbd } from "./fake-nbd-server.js";
import { BLOCK, halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;
t.comment("timeout=480000");
const SIZE = 12 * MIB;
const signingKey = generateKeyPairSync("ed25519").privateKey;
const session = "OpaqueRef:secret";

async function setUp(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-transfers-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const repository = await Repository.create(new FolderStorage(folder), {
    passphrase: "p",
    scryptN: 16,
  });
  const start = (
    operation: Parameters<typeof startWorker>[0]["operation"],
    onProgress?: (figures: Readonly<Record<string, number>>) => void,
  ) =>
    startWorker(
      {
        version: 1,
        expires: new Date(Date.now() + 60_000).toISOString(),
        storage: { type: "folder", path: folder },
        recoveryKey: recoveryKey(repository.key),
        operation,
      },
      { signingKey, niceness: 0, ...(onProgress && { onProgress }) },
    );
  const backUp = (disk: Omit<BackupDisk, "name">, base?: string) =>
    start({
      type: "backup",
      properties: {},
      disks: [{ name: "disk", ...disk }],
      ...(base !== undefined && { base }),
    }).result as Promise<BackupOrderResult>;
  return { repository, start, backUp };
}

function newContent(): Buffer {
  const content = Buffer.alloc(SIZE);
  halfRandom(seededRandom(1), 5 * MIB).copy(content, 3 * MIB);
  return content;
}

async function vhdOf(content: Buffer, blocks: number[]): Promise<Buffer> {
  const image = createVhdImage(content.length, blocks);
  const parts: Buffer[] = [];
  for await (const part of image.write((block) =>
    content.subarray(block * 2 * MIB, (block + 1) * 2 * MIB),
  ))
    parts.push(part);
  return Buffer.concat(parts);
}

/** An HTTP server with one body to fetch; what is sent to it is collected. */
async function serveBody(t: Test, body: () => Buffer) {
  const received: Buffer[] = [];
  const server = createServer((request, response) => {
    if (request.headers.cookie !== session) response.statusCode = 401;
    if (request.method === "GET") response.end(body());
    request.on("data", (bytes: Buffer) => received.push(bytes));
    request.on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/disk?session_id=${session}`,
    headers: { cookie: session },
    received,
  };
}

t.test("NBD over TLS: everything, then what changed", async (t) => {
  const { repository, backUp } = await setUp(t);
  const content = newContent();
  const { key, cert } = makeLoopbackCertificate();
  const { address, port } = await startFakeNbd(t, {
    content,
    tls: { key, cert },
  });
  const tls = { certificates: cert, hostname: "localhost" };
  const source = {
    type: "nbd" as const,
    servers: [{ address, port, tls }],
    exportName: session,
  };
  const full = await backUp({ size: SIZE, source });
  t.match(full.disks, [{ mode: "full", source: "nbd", read: SIZE }]);
  t.ok((await readBackupDisk(repository, full.id)).equals(content));
  content.write("changed", 4 * MIB);
  const changedBlocks = encodeChangedBlocks(
    [{ offset: 4 * MIB, length: 7 }],
    SIZE,
  );
  const disk = { size: SIZE, source, changedBlocks };
  const next = await backUp(disk, full.id);
  t.match(next.disks, [{ mode: "changes", changed: BLOCK, mismatches: 0 }]);
  t.ok(next.disks[0]!.compared > 0);
  t.ok((await readBackupDisk(repository, next.id)).equals(content));
  content.write("not in the bitmap", 9 * MIB);
  const wrong = await backUp({ ...disk, compareSample: 1 }, next.id);
  t.match(wrong.disks, [{ mode: "full", mismatches: 1 }]);
  t.ok((await readBackupDisk(repository, wrong.id)).equals(content));
});

t.test("streams: a VHD, its changes, a raw image", async (t) => {
  const { repository, backUp } = await setUp(t);
  const content = newContent();
  let body = await vhdOf(content, [1, 2, 3]);
  const { url, headers } = await serveBody(t, () => body);
  const source = { type: "stream", format: "vhd", url, headers } as const;
  const full = await backUp({ size: SIZE, source });
  t.match(full.disks, [{ mode: "full", source: "stream", read: 6 * MIB }]);
  t.ok((await readBackupDisk(repository, full.id)).equals(content));
  content.write("changed", 10 * MIB);
  body = await vhdOf(content, [5]);
  const delta = await backUp({ size: SIZE, source, delta: true }, full.id);
  t.match(delta.disks, [{ mode: "changes", changed: 2 * MIB }]);
  t.ok((await readBackupDisk(repository, delta.id)).equals(content));
  body = content;
  const raw = { ...source, format: "raw" as const };
  const last = await backUp({ size: SIZE, source: raw });
  t.ok((await readBackupDisk(repository, last.id)).equals(content));
  body = content.subarray(0, SIZE - 1);
  await t.rejects(backUp({ size: SIZE, source: raw }), {
    code: "source-invalid",
  });
  await t.rejects(backUp({ source }), { code: "invalid" });
  await t.rejects(backUp({ size: SIZE, source: raw, delta: true }, full.id), {
    code: "invalid",
  });
});

t.test("a stream whose size is known at its end", async (t) => {
  const { repository, backUp } = await setUp(t);
  let body = halfRandom(seededRandom(3), 3 * MIB + 4321);
  const { url, headers } = await serveBody(t, () => body);
  const source = { type: "stream", format: "raw", url, headers } as const;
  for (const size of [body.length, 2 * MIB, 77, 0]) {
    body = body.subarray(0, size);
    const { id, disks } = await backUp({
      source: { ...source, maxSize: 4 * MIB },
    });
    t.match(disks, [{ mode: "full", read: size, changed: size }]);
    t.ok((await readBackupDisk(repository, id)).equals(body), `${size} bytes`);
  }
  body = Buffer.alloc(2 * MIB + 1);
  await t.rejects(
    backUp({ source: { ...source, maxSize: 2 * MIB } }),
    { code: "source-invalid" },
    "more than its maximum",
  );
  await t.rejects(backUp({ source }), { code: "invalid" });
});

t.test("a disk is uploaded, and read from a pipe", async (t) => {
  const { repository, start, backUp } = await setUp(t);
  const content = newContent();
  const { url, headers, received } = await serveBody(t, () => content);
  const source = { type: "stream", format: "raw", url, headers } as const;
  const { id } = await backUp({ size: SIZE, source });
  const restore = (
    target: RestoreTarget,
    onProgress?: (figures: Readonly<Record<string, number>>) => void,
  ) => start({ type: "restore", backup: id, disk: "disk", target }, onProgress);
  received.length = 0;
  const upload = { type: "upload", url, headers } as const;
  await restore({ ...upload, format: "raw" }).result;
  t.ok(Buffer.concat(received).equals(content));
  received.length = 0;
  const sent = await restore({ ...upload, format: "vhd" }).result;
  t.ok(Buffer.concat(received).length < 7 * MIB);
  t.match(sent, { total: Buffer.concat(received).length });
  await t.rejects(
    restore({ type: "upload", url, format: "raw" }).result,
    { code: "transfer-failed" },
    "without its cookie",
  );
  const progress: Readonly<Record<string, number>>[] = [];
  const worker = restore({ type: "pipe", format: "raw" }, (figures) =>
    progress.push(figures),
  );
  const output: Buffer[] = [];
  for await (const bytes of worker.output!) output.push(bytes as Buffer);
  t.match(await worker.result, { total: SIZE });
  t.ok(Buffer.concat(output).equals(content));
  t.match(progress[0], { total: SIZE, done: 0 });
  const left = restore({ type: "pipe", format: "raw" });
  left.output!.destroy();
  await t.rejects(left.result, "a reader that leaves");
  t.equal((await repository.listBackups()).length, 1);
});

/** A worker that restores a disk into a pipe that is not read yet. */
async function startRestore(t: Test) {
  const { backUp, start } = await setUp(t);
  const { url, headers } = await serveBody(t, () => Buffer.alloc(SIZE));
  const source = { type: "stream", format: "raw", url, headers } as const;
  const { id } = await backUp({ size: SIZE, source });
  const worker = start({
    type: "restore",
    backup: id,
    disk: "disk",
    target: { type: "pipe", format: "raw" },
  });
  await once(worker.output!, "readable");
  return worker;
}

t.test(
  "settings of glibc for the server are not those of a worker",
  async (t) => {
    process.env["MALLOC_TRIM_THRESHOLD_"] = "131072";
    t.teardown(() => delete process.env["MALLOC_TRIM_THRESHOLD_"]);
    const worker = await startRestore(t);
    const text = await readFile(`/proc/${worker.pid}/environ`, "latin1");
    t.match(text, "MALLOC_ARENA_MAX=2");
    t.notMatch(text, "MALLOC_TRIM_THRESHOLD_");
    worker.output!.resume();
    await worker.result;
  },
);

t.test("no secret is in the arguments or the environment", async (t) => {
  process.env["XO_SECRET_OF_SERVER"] = session;
  t.teardown(() => delete process.env["XO_SECRET_OF_SERVER"]);
  const worker = await startRestore(t);
  for (const file of ["cmdline", "environ"]) {
    const text = await readFile(`/proc/${worker.pid}/${file}`, "latin1");
    t.notMatch(text, /secret/i, file);
  }
  worker.output!.resume();
  await worker.result;
});
