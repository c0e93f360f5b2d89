import t from "tap";
import { FolderError } from "../src/storage/folder-error.js";
import { ResponsiveStorage } from "../src/storage/responsive-storage.js";
import { listAll } from "../src/storage/storage.js";
import { MemoryStorage } from "./memory-storage.js";

const LIMIT_MS = 60_000;
const TEXT = Buffer.from("text");

/** A storage in memory that hangs when a test requests that, and timers that it fires. */
function setUp() {
  let hung: Promise<void> | undefined;
  let release = (): void => undefined;
  const timers = new Map<() => void, number>();
  const memory = Object.assign(new MemoryStorage(new Map(), () => hung), {
    readParts: async () => [],
    move: async () => undefined,
    readOnlyReason: async () => undefined,
    capacity: async () => ({ total: 1, free: 1 }),
  });
  const storage = new ResponsiveStorage(memory, {
    limitMs: LIMIT_MS,
    after(ms, call) {
      timers.set(call, ms);
      return () => timers.delete(call);
    },
  });
  return {
    storage,
    timers,
    hang: () => {
      hung = new Promise((resolve) => (release = resolve));
    },
    answer: () => {
      hung = undefined;
      release();
    },
    /** The time of all limits passes. */
    pass: () => {
      const due = [...timers.keys()];
      timers.clear();
      for (const call of due) call();
    },
  };
}

t.test(
  "operations on a folder that answers are those of the folder",
  async (t) => {
    const { storage, timers } = setUp();
    t.ok(await storage.putIfAbsent("log/1", [TEXT]));
    t.notOk(await storage.putIfAbsent("log/1", [TEXT]));
    t.ok((await storage.read("log/1")).equals(TEXT));
    t.equal(await storage.size("log/1"), TEXT.length);
    t.equal((await listAll(storage, "log")).length, 1);
    await storage.remove(["log/1"]);
    await t.rejects(storage.read("log/1"), { code: "missing" });
    t.equal(timers.size, 0);
  },
);

t.test("an operation that the file server does not answer fails", async (t) => {
  const { storage, hang, answer, pass } = setUp();
  hang();
  const read = storage.size("log/1");
  const listed = listAll(storage, "log");
  pass();
  pass(); // the time that is left for an answer that was not read yet
  const failure = { code: "storage-failed", message: /no answer for 60 s/ };
  await t.rejects(read, failure);
  await t.rejects(listed, failure);
  await t.rejects(storage.size("log/1"), FolderError, "at once");
  answer();
  await new Promise(setImmediate);
  t.equal(await storage.size("log/1"), undefined, "the server answers again");
});

t.test(
  "an answer that arrived while this machine was suspended counts",
  async (t) => {
    const { storage, hang, answer, pass } = setUp();
    hang();
    const read = storage.size("log/1");
    pass();
    answer();
    t.equal(await read, undefined);
    pass();
    t.equal(await storage.size("log/1"), undefined);
  },
);

t.test(
  "at most four operations use threads at once, all are limited",
  async (t) => {
    const { storage, hang, pass, timers } = setUp();
    hang();
    const all = Array.from({ length: 9 }, () => storage.size("log/1"));
    t.equal(timers.size, 9);
    pass();
    pass();
    for (const one of await Promise.allSettled(all))
      t.match(one, { status: "rejected", reason: FolderError });
  },
);
