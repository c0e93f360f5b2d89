import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
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
  type SeveralBackupsResult,
} from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { SharedBlocks } from "../src/source/shared-blocks.js";
import { SharedStream } from "../src/source/shared-stream.js";
import { createVhdImage } from "../src/vhd/vhd-image.js";
import type { BlockStream, StreamPart } from "../src/write/block-source.js";
import { startFakeNbd } from "./fake-nbd-server.js";
import { BLOCK, MemoryDisk, halfRandom } from "./memory-disk.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;
const SIZE = 40 * MIB;
const signingKey = generateKeyPairSync("ed25519").privateKey;

async function setUp(t: Test) {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-several-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const paths = ["a", "b", "missing"].map((name) => join(folder, name));
  const repositories: Repository[] = [];
  for (const path of paths.slice(0, 2))
    repositories.push(
      await Repository.create(new FolderStorage(path), {
        passphrase: "p",
        scryptN: 16,
      }),
    );
  /** @param targets numbers of repositories, with the backup that changes refer to */
  const backUp = (
    disk: Omit<BackupDisk, "name">,
    targets: readonly { readonly at: number; readonly base?: string }[],
  ) =>
    startWorker(
      {
        version: 1,
        expires: new Date(Date.now() + 60_000).toISOString(),
        operation: {
          type: "backup-to-several",
          properties: {},
          disks: [{ name: "disk", ...disk }],
          targets: targets.map(({ at, base }) => ({
            repository: {
              storage: { type: "folder", path: paths[at]! },
              recoveryKey: recoveryKey(
                (repositories[at] ?? repositories[0]!).key,
              ),
            },
            ...(base !== undefined && { base }),
          })),
        },
      },
      { signingKey, niceness: 0 },
    ).result as Promise<SeveralBackupsResult>;
  return { repositories, backUp };
}

function newContent(): Buffer {
  const content = Buffer.alloc(SIZE);
  halfRandom(seededRandom(1), 30 * MIB).copy(content, 3 * MIB);
  return content;
}

function stored(results: SeveralBackupsResult): BackupOrderResult[] {
  return results.targets.map((one) => {
    if ("error" in one) throw new Error(one.error.message);
    return one;
  });
}

t.test("two repositories get a backup from one reading by NBD", async (t) => {
  const { repositories, backUp } = await setUp(t);
  const content = newContent();
  const server = await startFakeNbd(t, { content });
  const source = {
    type: "nbd" as const,
    servers: [{ address: server.address, port: server.port }],
    exportName: "disk",
  };
  const full = stored(
    await backUp({ size: SIZE, source }, [{ at: 0 }, { at: 1 }]),
  );
  t.equal(server.bytes, SIZE, "each byte is read once");
  for (const [i, { id }] of full.entries())
    t.ok((await readBackupDisk(repositories[i]!, id)).equals(content));

  await t.test("then what has changed", async (t) => {
    content.write("changed", 4 * MIB);
    content.write("changed too", 20 * MIB);
    const ranges = [4 * MIB, 20 * MIB].map((offset) => ({ offset, length: 7 }));
    const changedBlocks = encodeChangedBlocks(ranges, SIZE);
    const before = server.bytes;
    const next = stored(
      await backUp(
        { size: SIZE, source, changedBlocks, compareSample: 0 },
        full.map(({ id }, at) => ({ at, base: id })),
      ),
    );
    t.equal(server.bytes - before, 2 * BLOCK, "each changed block once");
    for (const [i, { id, disks }] of next.entries()) {
      t.match(disks, [{ mode: "changes", changed: 2 * BLOCK }]);
      t.ok((await readBackupDisk(repositories[i]!, id)).equals(content));
    }
  });
});

t.test("two repositories get a backup from one VHD stream", async (t) => {
  const { repositories, backUp } = await setUp(t);
  const content = newContent();
  const blocks = Array.from({ length: SIZE / (2 * MIB) }, (_, i) => i);
  const parts: Buffer[] = [];
  for await (const part of createVhdImage(SIZE, blocks).write((block) =>
    content.subarray(block * 2 * MIB, (block + 1) * 2 * MIB),
  ))
    parts.push(part);
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    response.end(Buffer.concat(parts));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const source = {
    type: "stream" as const,
    format: "vhd" as const,
    url: `http://127.0.0.1:${port}/disk`,
    headers: {},
  };
  const targets = [{ at: 0 }, { at: 1 }];
  const full = stored(await backUp({ size: SIZE, source }, targets));
  t.equal(requests, 1);
  for (const [i, { id }] of full.entries())
    t.ok((await readBackupDisk(repositories[i]!, id)).equals(content));

  await t.test(
    "one that cannot be opened does not stop the other",
    async (t) => {
      const several = [{ at: 2 }, { at: 1 }];
      const { targets } = await backUp({ size: SIZE, source }, several);
      t.match(targets[0], { error: { code: "absent" } });
      const { id } = targets[1] as BackupOrderResult;
      t.ok((await readBackupDisk(repositories[1]!, id)).equals(content));
    },
  );
});

t.test("a reader of blocks that stalls is left behind", async (t) => {
  const disk = new MemoryDisk(8 * MIB);
  const shared = new SharedBlocks(disk, 2, { parts: 2, stallMs: 1 });
  const [first, late] = [shared.view(0), shared.view(1)];
  const buffer = Buffer.alloc(MIB);
  for (let at = 0; at < disk.size; at += MIB) await first.read(at, buffer);
  t.equal(disk.bytesRead, disk.size, "the first one reads on");
  disk.write(5 * MIB, Buffer.from("content"));
  await late.read(5 * MIB, buffer);
  t.equal(buffer.toString("utf8", 0, 7), "content", "the other one by itself");
});

t.test("a reader of a stream that stalls gets an error", async (t) => {
  const stream: BlockStream = {
    size: 8 * MIB,
    total: 8 * MIB,
    isOrdered: true,
    async *parts(): AsyncGenerator<StreamPart, void> {
      for (let i = 0; i < 8; i++)
        yield { offset: i * MIB, bytes: Buffer.alloc(MIB, i) };
    },
  };
  const { signal } = new AbortController();
  const limits = { parts: 2, stallMs: 1 };
  const shared = new SharedStream(stream, 2, { limits, signal });
  const late = shared.view(1).parts();
  t.match(await late.next(), { value: { offset: 0 } });
  const seen: number[] = [];
  for await (const { offset } of shared.view(0).parts()) seen.push(offset);
  t.equal(seen.length, 8, "the other one gets all parts");
  await t.rejects(late.next(), { code: "transfer-failed" });
});
