// slow
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import {
  copyFile,
  mkdtemp,
  open,
  readFile,
  rm,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import t, { type Test } from "tap";
import {
  FolderStorage,
  Repository,
  collectGarbage,
  encodeChangedBlocks,
  startWorker,
  verifyRepository,
  type BackupDescription,
  type ListResult,
  type RepositoryInspection,
  type WorkOperation,
} from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { openWorkOrder } from "../src/worker/work-order.js";
import type { Range } from "../src/write/block-runs.js";
import { countOf, integer, seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const MIB = 1024 * 1024;
const kills = countOf("XO_BACKUP_KILLS", 4);
const firstSeed = countOf("XO_BACKUP_SEED", 1);
const signingKey = generateKeyPairSync("ed25519").privateKey;

interface Setup {
  readonly folder: string;
  readonly image: string;
  readonly storage: FolderStorage;
  readonly repository: Repository;
  /** Starts a worker on the repository. */
  readonly start: (
    operation: WorkOperation,
    onProgress?: (figures: Readonly<Record<string, number>>) => void,
  ) => ReturnType<typeof startWorker>;
}

async function setUp(t: Test): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-worker-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "repository");
  const storage = new FolderStorage(path);
  const repository = await Repository.create(storage, {
    passphrase: "p",
    scryptN: 16,
    parity: true,
  });
  const image = join(folder, "image");
  await writeFile(image, randomBytes(40 * MIB));
  const start: Setup["start"] = (operation, onProgress) =>
    startWorker(
      {
        version: 1,
        expires: new Date(Date.now() + 60_000).toISOString(),
        storage: { type: "folder", path },
        recoveryKey: recoveryKey(repository.key),
        operation,
      },
      { signingKey, niceness: 0, ...(onProgress && { onProgress }) },
    );
  return { folder, image, storage, repository, start };
}

const backupOf = (
  path: string,
  base?: string,
  changed: readonly Range[] = [],
): WorkOperation => ({
  type: "backup",
  properties: { job: "j", records: { large: true } },
  disks: [
    {
      name: "disk",
      source: { type: "image", path },
      ...(base !== undefined && {
        changedBlocks: encodeChangedBlocks(changed, 40 * MIB),
      }),
    },
  ],
  ...(base !== undefined && { base }),
});

t.test(
  "a worker backs up, verifies, restores, removes and collects",
  async (t) => {
    const { folder, image, start } = await setUp(t);
    const progress: Readonly<Record<string, number>>[] = [];
    const result = (await start(backupOf(image), (figures) =>
      progress.push(figures),
    ).result) as { id: string };
    t.match(progress[0], { read: Number });
    t.match(await start({ type: "verify", repair: false }).result, {
      findings: [],
      backups: 1,
    });
    const restored = join(folder, "restored");
    const restore = (mode: "new" | "differences") =>
      start({
        type: "restore",
        backup: result.id,
        disk: "disk",
        target: { type: "file", path: restored, mode },
      }).result;
    await restore("new");
    t.ok((await readFile(restored)).equals(await readFile(image)));
    t.match(await restore("differences"), { written: 0 });
    await t.rejects(restore("new"), { code: "EEXIST" });
    await start({ type: "remove", backups: [result.id] }).result;
    t.match(await start({ type: "collect" }).result, { deleted: 0 });
    await t.rejects(start({ type: "remove", backups: [result.id] }).result, {
      name: "WorkerError",
      code: "unknown",
    });
  },
);

t.test(
  "a worker lists the backups that the caller does not know",
  async (t) => {
    const { image, start, repository } = await setUp(t);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      const { id } = (await start(backupOf(image)).result) as { id: string };
      ids.push(id);
    }
    const list = (more: object) =>
      start({ type: "list", known: [], ...more }).result as Promise<ListResult>;
    const all = await list({ omit: ["records"] });
    t.same(
      all.backups.map(({ id }) => id),
      ids,
      "oldest first",
    );
    t.same(all.backups[0]!.properties, { job: "j" }, "without what is omitted");
    t.match(all.backups[0], {
      time: Number,
      sizes: { disks: 40 * MIB, read: 40 * MIB, stored: Number },
      disks: [{ name: "disk", statistics: { mode: "full", mismatches: 0 } }],
    });
    t.match(all, { more: false, removed: [], damaged: [] });
    t.equal(all.backups[0]!.sizes.stored, 40 * MIB, "random, not compressed");
    t.equal(all.backups[1]!.sizes.stored, 0, "the same content again");
    const two = await list({ limit: 2 });
    t.match([two.backups.length, two.more], [2, true]);
    await repository.removeBackups([ids[0]!]);
    t.match(await list({ known: ids.slice(0, 2) }), {
      removed: [ids[0]],
      backups: [{ id: ids[2] }],
    });
    const described = (await start({ type: "describe", backup: ids[1]! })
      .result) as BackupDescription;
    t.match(described.properties, { records: { large: true } });
    const inspected = await start({ type: "inspect" }).result;
    t.match(inspected, {
      id: repository.config.id,
      passphrases: ["default"],
      backups: 2,
      capacity: { total: Number, free: Number },
    });
    t.ok((inspected as RepositoryInspection).used > 40 * MIB);
  },
);

t.test("a worker is cancelled", async (t) => {
  const { image, start, repository } = await setUp(t);
  const worker = start(backupOf(image), () => worker.cancel());
  await t.rejects(worker.result, { code: "cancelled" });
  t.same(await repository.listBackups(), []);
});

t.test("an order that is not signed, or is too old, is refused", async (t) => {
  const other = generateKeyPairSync("ed25519");
  const order = JSON.stringify({ version: 1, expires: "2026-01-01T00:00:00Z" });
  const signature = sign(null, Buffer.from(order), other.privateKey);
  const signed = { order, signature: signature.toString("base64") };
  const now = Date.parse("2025-12-31T00:00:00Z");
  const open = (value: unknown, at: number) => () =>
    openWorkOrder(value, { key: other.publicKey, now: at });
  t.match(open(signed, now)(), { version: 1 });
  t.throws(open(signed, now + 2 * 86_400_000), { code: "invalid" });
  t.throws(open({ ...signed, order: `${order} ` }, now), { code: "invalid" });
  t.throws(open({}, now), { code: "invalid" });
  t.throws(open(undefined, now), { code: "invalid" });
});

t.test(`a worker is killed ${kills} times`, async (t) => {
  const setup = await setUp(t);
  const random = seededRandom(firstSeed);
  const acknowledged = new Map<string, string>();
  let duration = 0;
  for (let round = 0; round < kills; round++) {
    // Half of the image changes.
    const offset = integer(random, 20) * MIB;
    const file = await open(setup.image, "r+");
    await file.write(randomBytes(20 * MIB), 0, 20 * MIB, offset);
    await file.close();
    const changed = [{ offset, length: 20 * MIB }];
    const base = [...acknowledged.keys()].at(-1);
    const operation = backupOf(setup.image, base, changed);
    const before = await packBytes(setup);
    const killed = setup.start(operation);
    const ended = killed.result.catch(() => undefined);
    await setTimeout(random() * (duration || 1500));
    try {
      process.kill(killed.pid!, "SIGKILL");
    } catch {
      // It has ended already: then it has acknowledged its backup.
    }
    const early = await ended;
    const stored = (await packBytes(setup)) - before;
    await checkRepository(t, setup, acknowledged);
    const start = performance.now();
    const { id, statistics } = (await setup.start(operation).result) as {
      id: string;
      statistics: { deduplicated: number };
    };
    duration = performance.now() - start;
    if (early === undefined)
      t.ok(
        // What was stored before is not stored again, but for extents.
        statistics.deduplicated >= Math.min(stored, 20 * MIB) - 100_000,
        `round ${round}: ${stored} bytes stored, ${statistics.deduplicated} used again`,
      );
    const copy = join(setup.folder, `copy-${round}`);
    await copyFile(setup.image, copy);
    acknowledged.set(id, copy);
    await checkRepository(t, setup, acknowledged);
    if (round % 5 === 4) await removeOld(setup, acknowledged);
  }
});

async function packBytes({ repository }: Setup): Promise<number> {
  const files = await repository.packs.list();
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Every acknowledged backup is there and whole, and nothing is half there. */
async function checkRepository(
  t: Test,
  { storage, repository }: Setup,
  acknowledged: ReadonlyMap<string, string>,
): Promise<void> {
  const fresh = await Repository.open(storage, {
    recoveryKey: recoveryKey(repository.key),
  });
  const ids = new Set((await fresh.listBackups()).map(({ id }) => id));
  for (const id of acknowledged.keys()) t.ok(ids.has(id), `${id} is listed`);
  const { findings } = await verifyRepository(fresh);
  // A manifest may have been stored and not acknowledged: it is whole, and does not count.
  const serious = findings.filter(
    ({ problem, file }) =>
      problem !== "not-in-log" && !file.startsWith("copies/"),
  );
  t.same(serious, []);
  const [id, copy] = [...acknowledged].at(-1) ?? [];
  if (id !== undefined)
    t.ok((await readBackupDisk(fresh, id)).equals(await readFile(copy!)), id);
}

/** Keeps the test small: only the last backup stays. */
async function removeOld(
  { folder, repository }: Setup,
  acknowledged: Map<string, string>,
): Promise<void> {
  const old = [...acknowledged.keys()].slice(0, -1);
  const ids = new Set((await repository.listBackups()).map(({ id }) => id));
  const last = [...acknowledged.keys()].at(-1)!;
  await repository.removeBackups([...ids].filter((id) => id !== last));
  for (const id of old) {
    await rm(acknowledged.get(id)!);
    acknowledged.delete(id);
  }
  for (let i = 0; i < 2; i++) await collectGarbage(repository, { graceMs: 0 });
  await rm(join(folder, "repository/quarantine"), {
    recursive: true,
    force: true,
  });
}
