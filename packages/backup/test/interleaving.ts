import {
  Repository,
  RepositoryError,
  collectGarbage,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { Interleaver } from "./interleaver.js";
import { BLOCK, MemoryDisk } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { integer, pick, seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

/** An empty repository in memory. @param clock milliseconds since the epoch */
export async function newRepository(parity = false, clock = { now: 0 }) {
  const storage = new MemoryStorage();
  const repository = await Repository.create(storage, {
    passphrase: "p",
    scryptN: 16,
    parity,
    now: () => clock.now,
  });
  return { storage, repository, clock };
}

/** What the model knows: the content of each acknowledged backup that was not removed. */
class Contents extends Map<string, Buffer> {
  readonly #removed = new Set<string>();

  /** A backup may be removed by another task before its writer has its answer. */
  override set(id: string, bytes: Buffer): this {
    return this.#removed.has(id) ? this : super.set(id, bytes);
  }

  override delete(id: string): boolean {
    this.#removed.add(id);
    return super.delete(id);
  }
}

/** Content from few distinct blocks, so that backups share chunks. */
function randomDisk(random: () => number): MemoryDisk {
  const disk = new MemoryDisk(BLOCK * 3);
  for (let block = 0; block < 3; block++)
    if (random() < 0.8)
      disk.write(
        // Apart, so that each block is a chunk of its own.
        block * BLOCK,
        Buffer.from(`content ${integer(random, 4)}`),
      );
  return disk;
}

/** A backup of a random disk; a conflict is answered as callers do: by another attempt. */
async function backupRandomly(
  repository: Repository,
  random: () => number,
  contents: Contents,
): Promise<void> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const base =
      random() < 0.6 ? pick(random, [...contents.keys()]) : undefined;
    const source = new MemoryDisk(BLOCK * 3);
    if (base !== undefined) contents.get(base)!.copy(source.bytes);
    const changed = { offset: integer(random, 3) * BLOCK, length: BLOCK };
    if (base === undefined) randomDisk(random).bytes.copy(source.bytes);
    else
      source.bytes.fill(
        integer(random, 5),
        changed.offset,
        changed.offset + BLOCK,
      );
    try {
      const { id } = await writeBackup(repository, {
        disks: [
          {
            name: "disk",
            source,
            ...(base !== undefined && { changed: [changed] }),
          },
        ],
        ...(base !== undefined && { base }),
      });
      contents.set(id, Buffer.from(source.bytes));
      return;
    } catch (error) {
      // The base was removed, with what it needs, or a pack was: both are answered by another attempt.
      if (!(error instanceof RepositoryError)) throw error;
      if (!["conflict", "unknown", "missing"].includes(error.code)) throw error;
    }
  }
}

async function removeRandomly(
  repository: Repository,
  random: () => number,
  contents: Contents,
): Promise<void> {
  const ids = (await repository.listBackups()).map(({ id }) => id);
  if (ids.length < 2) return;
  const id = pick(random, ids);
  try {
    await repository.removeBackups([id]);
  } catch (error) {
    // The other server was faster.
    if ((error as RepositoryError).code !== "unknown") throw error;
  }
  contents.delete(id);
}

/** What one job of a server does, one operation after another. */
function serverTask(
  repository: Repository,
  random: () => number,
  contents: Contents,
): () => Promise<void> {
  const backup = () => backupRandomly(repository, random, contents);
  const remove = () => removeRandomly(repository, random, contents);
  const collect = () =>
    collectGarbage(repository, { graceMs: pick(random, [0, 0, 0, 20]) });
  const verify = () => verifyRepository(repository);
  const jobs = [
    [backup, backup, remove, collect, verify],
    [backup],
    [remove, collect, collect],
  ];
  const operations = pick(random, jobs);
  return async () => {
    for (let i = 0; i < 6; i++) await pick(random, operations)();
  };
}

/**
 * Two servers with three jobs between them do random operations on one repository, in an order that the seed decides.
 * @returns problems: none if every acknowledged backup is whole
 */
export async function interleave(seed: number): Promise<string[]> {
  const random = seededRandom(seed);
  const clock = { now: 0 };
  const { storage, repository } = await newRepository(random() < 0.5, clock);
  const contents = new Contents();
  for (let i = 0; i < 2; i++) {
    const source = randomDisk(random);
    const { id } = await writeBackup(repository, {
      disks: [{ name: "disk", source }],
    });
    contents.set(id, Buffer.from(source.bytes));
  }
  const interleaver = new Interleaver(random);
  const recovery = { recoveryKey: recoveryKey(repository.key) };
  const servers = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const scheduled = new MemoryStorage(storage.files, interleaver.turn);
      const opening = Repository.open(scheduled, recovery, {
        now: () => clock.now++,
      });
      let opened: Repository | undefined;
      await interleaver.run([async () => void (opened = await opening)]);
      return opened!;
    }),
  );
  // Three tasks on two servers: a server runs several jobs at a time.
  const tasks = [servers[0]!, servers[1]!, servers[1]!].map((server) =>
    serverTask(server, random, contents),
  );
  await interleaver.run(tasks);
  return [
    ...(await problemsOf(storage, recovery, contents)),
    ...(await problemsAfterCollection(storage, recovery, contents)),
  ];
}

async function problemsOf(
  storage: MemoryStorage,
  recovery: { recoveryKey: string },
  contents: Contents,
): Promise<string[]> {
  const problems: string[] = [];
  const repository = await Repository.open(storage, recovery);
  const ids = new Set((await repository.listBackups()).map(({ id }) => id));
  for (const [id, bytes] of contents) {
    if (!ids.has(id)) problems.push(`backup ${id} is not in the log`);
    else
      try {
        if (!(await readBackupDisk(repository, id)).equals(bytes))
          problems.push(`backup ${id} has other bytes`);
      } catch (error) {
        problems.push(`backup ${id}: ${String(error)}`);
      }
  }
  const { findings } = await verifyRepository(repository);
  for (const { file, problem, detail } of findings)
    if (problem !== "not-in-log" && problem !== "unprotected")
      problems.push(`${file}: ${problem} ${detail ?? ""}`);
  return problems;
}

async function problemsAfterCollection(
  storage: MemoryStorage,
  recovery: { recoveryKey: string },
  contents: Contents,
): Promise<string[]> {
  const repository = await Repository.open(storage, recovery);
  for (let i = 0; i < 2; i++) await collectGarbage(repository, { graceMs: 0 });
  const problems = await problemsOf(storage, recovery, contents);
  const needed = new Set<string>();
  for (const { id } of await repository.listBackups())
    for (const pack of (await repository.readManifest(id)).packs)
      needed.add(pack);
  for (const { name } of await repository.packs.list())
    if (!needed.has(name.slice(name.lastIndexOf("/") + 1)))
      problems.push(`${name} is not deleted`);
  return problems;
}
