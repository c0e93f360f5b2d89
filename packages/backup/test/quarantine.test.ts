import { createHash } from "node:crypto";
import t from "tap";
import { RepositoryError } from "../src/errors.js";
import { quarantine } from "../src/verify/quarantine.js";
import type { ByteRange } from "../src/storage/storage.js";
import { MemoryStorage } from "./memory-storage.js";

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
