import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { buffer } from "node:stream/consumers";
import t, { type Test } from "tap";
import {
  FolderStorage,
  Repository,
  WorkerStarter,
  type WorkOperation,
  type Worker,
} from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";

const MIB = 1024 * 1024;

async function setUp(
  t: Test,
  options: { readonly niceness?: number } = { niceness: 0 },
) {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-starter-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "repository");
  await mkdir(path);
  const repository = await Repository.create(new FolderStorage(path), {
    passphrase: "p",
    scryptN: 16,
  });
  const image = join(folder, "image");
  await writeFile(image, randomBytes(4 * MIB));
  const signingKey = generateKeyPairSync("ed25519").privateKey;
  const starter = new WorkerStarter();
  const start = (
    operation: WorkOperation,
    onProgress?: (figures: Readonly<Record<string, number>>) => void,
  ): Worker =>
    starter.start(
      {
        version: 1,
        expires: new Date(Date.now() + 60_000).toISOString(),
        storage: { type: "folder", path },
        recoveryKey: recoveryKey(repository.key),
        operation,
      },
      { signingKey, ...options, ...(onProgress && { onProgress }) },
    );
  return { folder, image, start };
}

const backupOf = (path: string, maxRate?: number): WorkOperation => ({
  type: "backup",
  properties: {},
  disks: [{ name: "disk", source: { type: "image", path } }],
  ...(maxRate !== undefined && { maxRate }),
});

/** The process id is known a moment after the start. */
async function pidOf(worker: Worker): Promise<number> {
  while (worker.pid === undefined) await pause(5);
  return worker.pid;
}

t.test("workers started by a thread back up and restore", async (t) => {
  const { folder, image, start } = await setUp(t);
  const progress: Readonly<Record<string, number>>[] = [];
  const backups = await Promise.all(
    [1, 2, 3].map(
      () => start(backupOf(image), (some) => progress.push(some)).result,
    ),
  );
  t.match(progress[0], { read: Number });
  const [first] = backups as { id: string }[];
  const target = join(folder, "restored");
  await start({
    type: "restore",
    backup: first!.id,
    disk: "disk",
    target: { type: "file", path: target, mode: "new" },
  }).result;
  t.ok((await readFile(target)).equals(await readFile(image)));
});

t.test("a worker with an output has it", async (t) => {
  const { image, start } = await setUp(t);
  const { id } = (await start(backupOf(image)).result) as { id: string };
  const { output, result } = start({
    type: "restore",
    backup: id,
    disk: "disk",
    target: { type: "pipe", format: "raw" },
  });
  t.ok((await buffer(output!)).equals(await readFile(image)));
  await result;
});

t.test("errors of a worker keep their code and message", async (t) => {
  const { start, folder } = await setUp(t);
  await t.rejects(start(backupOf(join(folder, "none"))).result, {
    name: "WorkerError",
    code: "ENOENT",
  });
});

for (const [options, added] of [
  [{}, 10],
  [{ niceness: 3 }, 3],
  [{ niceness: 0 }, 0],
] as const)
  t.test(
    `the nice value of a worker is that of its server and ${added}`,
    async (t) => {
      const { image, start } = await setUp(t, options);
      const worker = start(backupOf(image, 1024));
      const priority = getPriority(await pidOf(worker));
      t.equal(priority, Math.min(19, getPriority() + added));
      worker.cancel();
      await t.rejects(worker.result, { code: "cancelled" });
    },
  );

t.test("a worker is cancelled", async (t) => {
  const { image, start } = await setUp(t);
  const worker = start(backupOf(image, 1024));
  await pidOf(worker);
  worker.cancel();
  await t.rejects(worker.result, { name: "WorkerError", code: "cancelled" });
});

t.test("a worker that is killed has crashed", async (t) => {
  const { image, start } = await setUp(t);
  const worker = start(backupOf(image, 1024));
  process.kill(await pidOf(worker), "SIGKILL");
  await t.rejects(worker.result, {
    code: "crashed",
    message: /ended by SIGKILL \(unless sent by a user: memory is short.*\)$/,
  });
  t.match(await start(backupOf(image)).result, { id: String });
});
