import { execFile, execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { FolderStorage, Repository, writeBackup } from "../src/index.js";
import { recoveryKey } from "../src/keys/recovery-sheet.js";
import { BLOCK, MemoryDisk, halfRandom, writeRandomly } from "./memory-disk.js";
import { integer, seededRandom } from "./random.js";

const program = join(import.meta.dirname, "../../../../tools/read-backup.py");
const run = promisify(execFile);
const MIB = 1024 * 1024;

/** Why the second reader cannot run here, or false. */
function missingPython(): string | false {
  try {
    execFileSync("python3", ["-c", "import cryptography"], { stdio: "pipe" });
    execFileSync("python3", [program, "--help"], { stdio: "pipe" });
    return false;
  } catch (error) {
    return `python3 with cryptography and zstd is needed: ${String(error).split("\n")[0]}`;
  }
}

t.test("the second reader", { skip: missingPython() }, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "xo-backup-python-"));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, "repository");
  const repository = await Repository.create(new FolderStorage(path), {
    passphrase: "Größe",
    parity: true,
    scryptN: 1024,
  });
  const random = seededRandom(5);
  const disk = new MemoryDisk(258 * MIB + 999);
  disk.write(0, halfRandom(random, MIB));
  disk.write(100 * MIB, Buffer.alloc(3 * BLOCK, "compressible "));
  disk.write(257 * MIB, halfRandom(random, MIB + 999));
  const states: { id: string; bytes: Buffer }[] = [];
  for (let i = 0; i < 3; i++) {
    const base = states.at(-1)?.id;
    if (base !== undefined) writeRandomly(disk, random, 5);
    const changed = disk.takeChanged();
    const { id } = await writeBackup(repository, {
      properties: { vm: { name_label: "web server" } },
      disks: [
        {
          name: "disk",
          properties: { name_label: "system" },
          source: disk,
          ...(base && { changed }),
        },
      ],
      ...(base && { base }),
    });
    states.push({ id, bytes: Buffer.from(disk.bytes) });
  }
  const read = async (id: string, credentials: string[]) => {
    const target = join(folder, `${id}-${credentials.length}`);
    await run(
      "python3",
      [program, path, ...credentials, "restore", id, "disk", target],
      {
        env: { ...process.env, XO_BACKUP_PASSPHRASE: "Größe" },
      },
    );
    const bytes = await readFile(target);
    await rm(target);
    return bytes;
  };

  t.test("restores every backup", async (t) => {
    for (const { id, bytes } of states)
      t.ok((await read(id, [])).equals(bytes), id);
  });

  t.test("lists backups with names, and shows their properties", async (t) => {
    const env = { ...process.env, XO_BACKUP_PASSPHRASE: "Größe" };
    const reader = async (...command: string[]) =>
      (await run("python3", [program, path, ...command], { env })).stdout;
    const { id } = states[0]!;
    const listed = (await reader("list")).split("\n");
    const at = listed.findIndex((line) => line.startsWith(id));
    t.match(listed[at], /Z {2}web server$/);
    t.match(listed[at + 1], /^ {4}disk {2}\d+ bytes {2}system$/);
    t.match(JSON.parse(await reader("show", id)), {
      vm: { name_label: "web server" },
      disks: [{ name: "disk", properties: { name_label: "system" } }],
    });
  });

  t.test("opens with the recovery key", async (t) => {
    const { id, bytes } = states[0]!;
    const key = ["--recovery-key", recoveryKey(repository.key)];
    t.ok((await read(id, key)).equals(bytes));
  });

  const env = { ...process.env, XO_BACKUP_PASSPHRASE: "Größe" };
  const fails = async (...command: string[]) => {
    try {
      await run("python3", [program, path, ...command], { env });
      return "";
    } catch (error) {
      return (error as { stderr: string }).stderr;
    }
  };

  t.test("recovers a damaged pack and a lost manifest", async (t) => {
    const { id, bytes } = states[2]!;
    const { packs } = await repository.readManifest(id);
    const file = join(path, "packs", packs[0]!.slice(0, 2), packs[0]!);
    const right = await readFile(file);
    const wrong = Buffer.from(right);
    wrong[integer(random, wrong.length)]! ^= 4;
    await writeFile(file, wrong);
    await rm(join(path, "backups", id));
    t.ok((await read(id, [])).equals(bytes));
    const report = `${packs[0]!} is missing or damaged, and was read from parity`;
    t.match(await fails("check"), report);
  });

  t.test("names a backup whose files are lost", async (t) => {
    const { id } = states[1]!;
    await rm(join(path, "backups", id));
    await rm(join(path, "copies/backups", id));
    t.match(await fails("list"), `backups/${id} and its copy are missing`);
  });

  t.test("leaves no part of a disk that it cannot restore", async (t) => {
    const { id } = states[0]!;
    await rm(join(path, "packs"), { recursive: true });
    await rm(join(path, "parity"), { recursive: true });
    const target = join(folder, "part");
    t.match(await fails("restore", id, "disk", target), /^damaged: pack /);
    await t.rejects(readFile(target), { code: "ENOENT" });
  });
});

t.test(
  "the second reader lists names that a terminal must not interpret or cannot show",
  { skip: missingPython() },
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "xo-backup-python-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const repository = await Repository.create(new FolderStorage(folder), {
      passphrase: "Größe",
      scryptN: 1024,
    });
    const name_label = "db\n00000000 \u001b[2J\u202ebd \u{1f4be}";
    await writeBackup(repository, {
      properties: { vm: { name_label } },
      disks: [],
    });
    const list = async (encoding: string) => {
      const env = { ...process.env, PYTHONIOENCODING: encoding };
      const key = recoveryKey(repository.key);
      const words = [program, folder, "--recovery-key", key, "list"];
      return (await run("python3", words, { env })).stdout;
    };
    t.match(
      await list("utf-8"),
      /^\S+ {2}\S+Z {2}db\?00000000 \?\[2J\?bd 💾\n$/,
    );
    t.match(await list("ascii"), /bd \\U0001f4be\n$/);
    const time = Date.UTC(2001, 1, 3);
    await writeBackup(repository, { properties: { time }, disks: [] });
    t.match(
      await list("utf-8"),
      /^\S+ {2}2001-02-03T00:00:00\.000Z\n/,
      "a copy with the time of what was copied, in its place",
    );
  },
);
