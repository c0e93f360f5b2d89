import { randomFillSync } from "node:crypto";
import t from "tap";
import { FolderStorage } from "../src/index.js";
import { listAll, readParts } from "../src/storage/storage.js";
import { MemoryStorage } from "./memory-storage.js";

const TEXT = Buffer.from("the content of a file");

t.test("parts of a file are the same from any storage", async (t) => {
  for (const storage of [new FolderStorage(t.testdir()), new MemoryStorage()]) {
    await storage.putIfAbsent("folder/file", [TEXT]);
    const parts = await readParts(storage, "folder/file", [
      { offset: 4, length: 7 },
      { offset: 0, length: 3 },
      { offset: TEXT.length - 4, length: 100 },
      { offset: TEXT.length, length: 1 },
    ]);
    t.same(parts.map(String), ["content", "the", "file", ""]);
    const rest = await storage.read("folder/file", { offset: 17, length: 9 });
    t.equal(String(rest), "file");
    t.ok((await storage.read("folder/file")).equals(TEXT));
    const all = [{ offset: 0, length: 1 }];
    await t.rejects(readParts(storage, "folder/other", all), {
      code: "missing",
    });
    t.same(await listAll(storage, "folder"), [
      { name: "folder/file", size: TEXT.length },
    ]);
  }
});

t.test("a file has the bytes of all its parts, large and small", async (t) => {
  const storage = new FolderStorage(t.testdir());
  const large = randomFillSync(Buffer.alloc(1_500_003));
  const parts = [
    TEXT,
    large,
    Buffer.alloc(0),
    ...Array.from({ length: 1500 }, (_, i) => large.subarray(i, i + 7)),
    large.subarray(0, 512 * 1024),
    Buffer.alloc(0),
  ];
  t.ok(await storage.putIfAbsent("folder/file", parts));
  const stored = await storage.read("folder/file");
  t.ok(stored.equals(Buffer.concat(parts)));
  t.ok(await storage.putIfAbsent("folder/empty", []));
  t.equal(await storage.size("folder/empty"), 0);
});

class SmallFolder extends FolderStorage {
  free = 0;

  override async capacity() {
    return { total: 1_000_000, free: this.free };
  }
}

t.test("packs leave space for the deletion of backups", async (t) => {
  const storage = new SmallFolder(t.testdir());
  storage.free = 10_000 + TEXT.length;
  t.ok(await storage.putIfAbsent("packs/aa/a", [TEXT]));
  storage.free--;
  await t.rejects(storage.putIfAbsent("packs/aa/b", [TEXT]), {
    code: "ENOSPC",
  });
  t.ok(await storage.putIfAbsent("log/0000000001", [TEXT]));
  t.same(
    (await listAll(storage, "packs")).map(({ name }) => name),
    ["packs/aa/a"],
  );
});
