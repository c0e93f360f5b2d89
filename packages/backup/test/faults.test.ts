import t, { type Test } from "tap";
import {
  Repository,
  RepositoryError,
  verifyRepository,
  writeBackup,
  type Anchor,
} from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { MemoryDisk, halfRandom, writeRandomly } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { integer, pick, seededRandom, seedsOf } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

const seeds = seedsOf("XO_BACKUP_FAULTS", 16);
const DISK_SIZE = 1024 * 1024 + 123;

type Files = Map<string, Buffer>;

/** A repository with some history, and what is in it. */
interface Fixture {
  readonly files: Files;
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly recoveryKey: string;
  readonly anchor: Anchor;
  /** All files after each backup. */
  readonly history: readonly Files[];
  /** The earlier bytes of files that were deleted and created again. */
  readonly older: Files;
}

async function createFixture(parity: boolean): Promise<Fixture> {
  const random = seededRandom(99);
  const storage = new MemoryStorage();
  const { files } = storage;
  const repository = await Repository.create(storage, {
    passphrase: "p",
    scryptN: 16,
    parity,
  });
  await repository.addPassphrase("second", "old", 16);
  const older = new Map([["keys/second", files.get("keys/second")!]]);
  await repository.removePassphrase("second");
  await repository.addPassphrase("second", "new", 16);
  const disk = new MemoryDisk(DISK_SIZE);
  disk.write(0, halfRandom(random, 600_000));
  disk.takeChanged();
  const contents = new Map<string, Buffer>();
  const history: Files[] = [];
  let base: string | undefined;
  // More than the entries between two checkpoints.
  for (let i = 0; i < 60; i++) {
    if (base !== undefined && i < 8) writeRandomly(disk, random, 3);
    const changed = disk.takeChanged();
    const { id } = await writeBackup(repository, {
      disks: [
        { name: "disk", source: disk, ...(base !== undefined && { changed }) },
      ],
      ...(base !== undefined && { base }),
    });
    base = id;
    contents.set(id, Buffer.from(disk.bytes));
    history.push(new Map(files));
  }
  return {
    files,
    contents,
    recoveryKey: recoveryKey(repository.key),
    anchor: repository.log.anchor,
    history,
    older,
  };
}

/** Changes files and returns what it did. */
type Fault = (files: Files, random: () => number, fixture: Fixture) => string;

/** Half of the faults hit packs and parity, the others any file. */
function anyFile(files: Files, random: () => number): string {
  const names = [...files.keys()];
  const large = names.filter((name) => /^(packs|parity)\//.test(name));
  return pick(random, random() < 0.5 ? large : names);
}

/** Faults of one file or of two: parity and copies repair them. */
const singleFaults: Record<string, Fault> = {
  "flipped bit": (files, random) => {
    const name = anyFile(files, random);
    const bytes = Buffer.from(files.get(name)!);
    const at = integer(random, bytes.length);
    bytes[at]! ^= 1 << integer(random, 8);
    files.set(name, bytes);
    return `${name} at ${at}`;
  },
  "cut file": (files, random) => {
    const name = anyFile(files, random);
    const bytes = files.get(name)!;
    files.set(name, bytes.subarray(0, integer(random, bytes.length)));
    return name;
  },
  "longer file": (files, random) => {
    const name = anyFile(files, random);
    const more = halfRandom(random, 1 + integer(random, 5000));
    files.set(name, Buffer.concat([files.get(name)!, more]));
    return name;
  },
  zeros: (files, random) => {
    const name = anyFile(files, random);
    const bytes = Buffer.from(files.get(name)!);
    const at = integer(random, bytes.length);
    bytes.subarray(at, at + 4096).fill(0);
    if (bytes.equals(files.get(name)!)) bytes[at] = 1;
    files.set(name, bytes);
    return `${name} at ${at}`;
  },
  "lost file": (files, random) => {
    const name = anyFile(files, random);
    files.delete(name);
    return name;
  },
  "swapped files": (files, random) => {
    const a = anyFile(files, random);
    const first = files.get(a)!;
    let b = a;
    while (files.get(b)!.equals(first)) b = anyFile(files, random);
    files.set(a, files.get(b)!);
    files.set(b, first);
    return `${a} and ${b}`;
  },
  "older file": (files, random, { older }) => {
    const [name, bytes] = pick(random, [...older]);
    const place = pick(random, [name, `copies/${name}`]);
    files.set(place, bytes);
    return place;
  },
};

/** Many files at once: noticed, but there is nothing to repair them from. */
const rollback: Fault = (files, random, { history }) => {
  for (;;) {
    const earlier = pick(random, history.slice(0, -1));
    const folder = pick(random, ["", "packs/", "backups/", "log/", "parity/"]);
    const missing = [...files.keys()].filter(
      (name) =>
        !earlier.has(name) &&
        (name.startsWith(folder) || name.startsWith(`copies/${folder}`)),
    );
    for (const name of missing) files.delete(name);
    if (missing.length > 0)
      return `${missing.length} files of ${folder || "all folders"}`;
  }
};

/** What a fault led to. */
interface Outcome {
  isNoticed: boolean;
  wrongBytes: number;
  unreadable: number;
}

async function examine(files: Files, fixture: Fixture): Promise<Outcome> {
  const outcome = { isNoticed: false, wrongBytes: 0, unreadable: 0 };
  const credentials = { recoveryKey: fixture.recoveryKey };
  const storage = new MemoryStorage(files);
  let repository;
  try {
    repository = await Repository.open(storage, credentials);
    const { anchor } = fixture;
    const { findings } = await verifyRepository(repository, { anchor });
    outcome.isNoticed = findings.length > 0;
  } catch (error) {
    if (!(error instanceof RepositoryError)) throw error;
    outcome.isNoticed = true;
  }
  if (repository === undefined) return outcome;
  // A reader that does not verify first.
  const ids = [...fixture.contents.keys()];
  for (const id of [...ids.slice(0, 5), ids.at(-1)!])
    try {
      const bytes = await readBackupDisk(repository, id);
      if (!bytes.equals(fixture.contents.get(id)!)) outcome.wrongBytes++;
    } catch (error) {
      if (!(error instanceof RepositoryError)) throw error;
      outcome.unreadable++;
    }
  return outcome;
}

/** Whether a repair makes everything as it was. */
async function isRepairable(files: Files, fixture: Fixture): Promise<boolean> {
  const credentials = { recoveryKey: fixture.recoveryKey };
  const storage = new MemoryStorage(files);
  const repository = await Repository.open(storage, credentials);
  await verifyRepository(repository, { repair: true });
  const { findings } = await verifyRepository(repository, {
    anchor: fixture.anchor,
  });
  const outcome = await examine(files, fixture);
  return (
    findings.length === 0 &&
    outcome.unreadable === 0 &&
    outcome.wrongBytes === 0
  );
}

for (const parity of [true, false])
  t.test(`${seeds.length} faults, ${parity ? "with" : "without"} parity`, (t) =>
    tryFaults(t, parity),
  );

async function tryFaults(t: Test, parity: boolean): Promise<void> {
  const fixture = await createFixture(parity);
  t.same(
    await examine(new Map(fixture.files), fixture),
    { isNoticed: false, wrongBytes: 0, unreadable: 0 },
    "nothing is reported without a fault",
  );
  const names = Object.keys(singleFaults);
  const counts = { tried: 0, noticed: 0, repaired: 0, wrong: 0 };
  for (const seed of seeds) {
    const random = seededRandom(seed);
    const name = names[seed % (names.length + 1)];
    const fault = name === undefined ? rollback : singleFaults[name]!;
    const files = new Map(fixture.files);
    const where = `seed ${seed}, ${name ?? "rollback"}: ${fault(files, random, fixture)}`;
    const outcome = await examine(files, fixture);
    counts.tried++;
    counts.wrong += outcome.wrongBytes;
    if (outcome.isNoticed) counts.noticed++;
    else t.fail(`not noticed: ${where}`);
    if (outcome.wrongBytes > 0) t.fail(`wrong bytes: ${where}`);
    if (!parity || name === undefined) continue;
    if (outcome.unreadable > 0 && name !== "swapped files")
      t.fail(`not readable: ${where}`);
    if (await isRepairable(files, fixture)) counts.repaired++;
    else t.fail(`not repaired: ${where}`);
  }
  t.comment(JSON.stringify(counts));
  t.pass(`${counts.noticed} of ${counts.tried} noticed`);
}
