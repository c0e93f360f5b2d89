import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import {
  FolderStorage,
  Repository,
  verifyRepository,
  writeBackup,
} from "../src/index.js";
import { RepositoryError } from "../src/errors.js";
import { quarantine } from "../src/verify/quarantine.js";
import type { ByteRange } from "../src/storage/storage.js";
import { MemoryDisk, halfRandom } from "./memory-disk.js";
import { MemoryStorage } from "./memory-storage.js";
import { seededRandom } from "./random.js";
import { readBackupDisk } from "./repository-content.js";

t.test(
  "a pack that another server repaired meanwhile is not moved away",
  async (t) => {
    const storage = new MemoryStorage();
    const bytes = Buffer.from("content");
    const digest = createHash("sha256").update(bytes).digest("hex");
    const file = `packs/${digest.slice(0, 2)}/${digest}`;
    await storage.putIfAbsent(file, [bytes]);
    t.equal(await quarantine(storage, file), undefined);
    t.ok((await storage.read(file)).equals(bytes));
    await storage.remove([file]);
    await storage.putIfAbsent(file, [Buffer.from("other")]);
    t.match(await quarantine(storage, file), /^quarantine\//);
    t.equal(await storage.size(file), undefined);
  },
);

/** Its medium has an unreadable sector. */
class BadSector extends MemoryStorage {
  static readonly offset = 20_480;

  override async read(name: string, range?: ByteRange): Promise<Buffer> {
    const { offset = 0, length = Infinity } = range ?? {};
    const isHit =
      offset < BadSector.offset + 4096 && offset + length > BadSector.offset;
    if (isHit && !name.startsWith("quarantine/"))
      throw new RepositoryError("damaged", `${name} cannot be read`);
    return super.read(name, range);
  }
}

t.test(
  "of a file with an unreadable sector everything else is kept",
  async (t) => {
    const storage = new BadSector();
    const bytes = Buffer.alloc(50_000, "content");
    await storage.putIfAbsent("packs/aa/a", [bytes]);
    const moved = await quarantine(storage, "packs/aa/a");
    const expected = Buffer.from(bytes).fill(0, 20_480, 20_480 + 4096);
    t.ok((await storage.read(moved!)).equals(expected));
    t.equal(storage.files.has("packs/aa/a"), false);
  },
);

t.test(
  "a damaged file stays where it is if there is no space for quarantine",
  async (t) => {
    const storage = new MemoryStorage();
    await storage.putIfAbsent("packs/aa/a", [Buffer.from("content")]);
    const full = Object.assign(new Error("no space left"), { code: "ENOSPC" });
    storage.putIfAbsent = () => Promise.reject(full);
    await t.rejects(quarantine(storage, "packs/aa/a"), full);
    t.ok(storage.files.has("packs/aa/a"), "restores read from it");
    const failed = new Error("the object store does not answer");
    storage.read = () => Promise.reject(failed);
    await t.rejects(quarantine(storage, "packs/aa/a"), failed);
    t.ok(storage.files.has("packs/aa/a"));
  },
);

/** A folder on a machine whose memory, or a store whose cache, changes what is read of packs. */
class WrongReads extends FolderStorage {
  isWrong = true;

  override async read(
    name: string,
    range?: ByteRange,
    memory?: Buffer,
  ): Promise<Buffer> {
    const bytes = await super.read(name, range, memory);
    if (this.isWrong && /(^|\/)packs[/-]|^quarantine/.test(name))
      bytes[bytes.length >> 1]! ^= 1;
    return bytes;
  }
}

t.test(
  "a pack that is only read wrongly is not lost: the next verification that reads it rightly restores it",
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "xo-quarantine-"));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const passphrase = "correct horse";
    const repository = await Repository.create(new FolderStorage(folder), {
      passphrase,
      scryptN: 16,
    });
    const disk = new MemoryDisk(2 * 2 ** 20);
    disk.write(0, halfRandom(seededRandom(1), 2 ** 20));
    const input = { disks: [{ name: "disk", source: disk }] };
    const { id } = await writeBackup(repository, input, { readBack: 0 });
    const storage = new WrongReads(folder);
    const verify = async () => {
      const opened = await Repository.open(storage, { passphrase });
      return verifyRepository(opened, { repair: true });
    };
    const damage = { problem: "damaged", isRepaired: false, backups: [id] };
    t.match((await verify()).findings, [damage, damage]);
    storage.isWrong = false;
    const repaired = { problem: "missing", isRepaired: true, backups: [id] };
    t.match((await verify()).findings, [repaired, repaired]);
    t.same((await verify()).findings, []);
    const read = await readBackupDisk(repository, id, "disk");
    t.ok(read.equals(disk.bytes));
  },
);
