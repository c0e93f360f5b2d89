import {
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t from "tap";
import { createCatalog, createInventory } from "@xo-server/inventory";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import {
  CHECKPOINT_MS,
  filesOf,
  key,
  poolOf,
  run,
  settle,
} from "./snapshot-pool.js";
import { until } from "./until.js";

t.test(
  "after a restart all objects are present, stale with their age",
  async (t) => {
    const directory = join(t.testdir(), "inventory");
    const pool = poolOf(20);
    pool.put("VBD", "OpaqueRef:b", { uuid: "b", VM: "OpaqueRef:1" });
    const first = await run(directory, pool);
    await until(first.isRestored);
    await first.inventory.stop();
    const stoppedAt = first.clock.now();

    const second = await run(directory, pool, { isAway: true });
    await until(second.isRestored);
    const status = second.handle.status();
    t.equal(status.state, "connecting");
    t.equal(status.staleSince, stoppedAt);
    t.equal(status.objects, 21);
    t.equal(status.changesPerSecond, 0, "loading is not a change");
    t.equal(status.lastChangeAt, undefined);
    t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
    t.equal(second.inventory.getByUuid("u7")?.ref, "OpaqueRef:7");
    t.match(second.lines, [
      {
        level: "info",
        message: /p: 21 objects restored from the snapshot, as of 1970/,
      },
    ]);
    await second.inventory.stop();

    const third = await run(directory, pool, { isAway: true });
    await until(third.isRestored);
    t.equal(third.handle.status().staleSince, stoppedAt, "not made younger");
    await third.inventory.stop();
  },
);

t.test(
  "a restore shows only the last state of each object, and counts the objects without reporting each",
  async (t) => {
    const directory = t.testdir();
    const pool = poolOf(300);
    const first = await run(directory, pool);
    await until(first.isRestored);
    await first.checkpoint();
    for (let n = 1; n < 5; n++) {
      for (let i = 0; i < 300; i++)
        pool.put("VM", `OpaqueRef:${i}`, { uuid: `u${i}`, n });
      pool.put("VM", `OpaqueRef:old${n}`, { uuid: `old${n}` });
      if (n > 1) pool.delete("VM", `OpaqueRef:old${n - 1}`);
      await first.poll();
      await first.checkpoint();
    }
    await first.inventory.stop();

    const second = await run(directory, pool, { isAway: true });
    const { inventory } = second;
    const before = inventory.revision;
    const notified: number[] = [];
    inventory.subscribe((batch) => notified.push(batch.last));
    const catalog = createCatalog(inventory);
    const views = await catalog.follow("VM");
    const seen = new Set<unknown>();
    while (!second.isRestored()) {
      for (const { record } of inventory.list("VM")) seen.add(record?.["n"]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal(inventory.revision, before + 301, "each object once");
    t.same(notified, [inventory.revision], "listeners learn of the revision");
    t.equal(inventory.since(before), "resync");
    t.match(inventory.since(inventory.revision), { count: 0 });
    await catalog.loaded();
    t.equal(views.count, 301);
    t.ok(views.findId("old4") >= 0);
    t.equal(views.findId("old1"), -1);
    catalog.stop();
    t.ok(
      [...seen].every((n) => n === 4 || n === undefined),
      "no state of the past is read",
    );
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    await inventory.stop();
  },
);

t.test("the listing then causes only the differences", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(20);
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.inventory.stop();

  pool.put("VM", "OpaqueRef:3", { uuid: "u3", n: 3 });
  pool.delete("VM", "OpaqueRef:4");
  pool.put("VM", "OpaqueRef:new", { uuid: "new" });
  const second = await run(directory, pool, { isAway: true });
  await until(second.isRestored);
  const states: string[] = [];
  second.inventory.onMirrorStatus(() => {
    states.push(second.handle.status().state);
  });
  const changes: string[] = [];
  second.inventory.subscribe((batch) => {
    for (const { kind, ref } of batch) changes.push(`${kind} ${ref}`);
  });
  pool.setState("connected");
  await until(() => second.handle.status().state === "watching");
  t.same(changes.toSorted(), [
    "add OpaqueRef:new",
    "remove OpaqueRef:4",
    "update OpaqueRef:3",
  ]);
  t.equal(second.handle.status().staleSince, undefined, "fresh");
  t.same([...new Set(states)], ["re-listing", "watching"]);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
});

t.test("a class that the pool no longer has is removed", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(3);
  pool.put("host", "OpaqueRef:h", { uuid: "h" });
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.inventory.stop();
  pool.objects.delete("host");
  const second = await run(directory, pool);
  await until(second.isRestored);
  t.same([...second.inventory.counts("p")], [["VM", 3]]);
  await second.inventory.stop();
});

t.test("changes are written every few seconds, once each", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(5);
  const { inventory, checkpoint, poll, clock, handle } = await run(
    directory,
    pool,
  );
  await until(() => handle.status().state === "watching");
  t.equal(inventory.stats.snapshotCache!.bytes, 0, "nothing yet");
  await checkpoint();
  const bytesOfOne = async (changes: number) => {
    const before = inventory.stats.snapshotCache!.bytes;
    for (let i = 0; i < changes; i++) {
      pool.put("VM", "OpaqueRef:1", { uuid: "u1", n: 10 + i + changes });
      await poll();
    }
    await checkpoint();
    return inventory.stats.snapshotCache!.bytes - before;
  };
  const one = await bytesOfOne(1);
  t.ok(one > 0);
  t.equal(await bytesOfOne(9), one, "nine changes of one object are one");
  const before = inventory.stats.snapshotCache!;
  clock.advance(CHECKPOINT_MS);
  await settle();
  t.same(inventory.stats.snapshotCache, before, "without a change, nothing");
  // As after SIGKILL: the file alone.
  const other = join(directory, "copy");
  copyPool(directory, other);
  const second = await run(other, pool, { isAway: true });
  await until(second.isRestored);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
  await inventory.stop();
});

t.test("deleted objects stay deleted after a restart", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(5);
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.checkpoint();
  pool.delete("VM", "OpaqueRef:1");
  pool.delete("VM", "OpaqueRef:2");
  await first.poll();
  // It is created again with the same reference before anything is written.
  pool.put("VM", "OpaqueRef:2", { uuid: "u2", n: 2 });
  await first.poll();
  await first.inventory.stop();
  const second = await run(directory, pool, { isAway: true });
  await until(second.isRestored);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
});

t.test("more removals than are recorded: the file is rewritten", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(70_000);
  pool.batchSize = 10_000;
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.checkpoint();
  t.same(filesOf(directory), ["1.frames"]);
  for (let i = 1; i < 70_000; i++) pool.delete("VM", `OpaqueRef:${i}`);
  await first.poll();
  await first.checkpoint();
  t.same(filesOf(directory), ["2.frames"]);
  await first.inventory.stop();
  const second = await run(directory, pool, { isAway: true });
  await until(second.isRestored);
  t.equal(second.inventory.objects, 1);
  await second.inventory.stop();
});

t.test(
  "a pool that was never listed completely is not persisted",
  async (t) => {
    const directory = t.testdir();
    const pool = poolOf(5);
    pool.listingErrors.set("VBD", { error: new Error("no way") });
    const { inventory, clock } = await run(directory, pool);
    await until(() => inventory.mirrorStatus("p")!.state === "backing-off");
    clock.advance(CHECKPOINT_MS);
    await settle();
    await inventory.stop();
    t.same(filesOf(directory), []);
  },
);

t.test(
  "a disconnected pool is persisted in its last known state",
  async (t) => {
    const directory = t.testdir();
    const pool = poolOf(5);
    const { inventory, clock, checkpoint, handle } = await run(directory, pool);
    await until(() => handle.status().state === "watching");
    await checkpoint();
    clock.advance(1_000);
    pool.setState("connecting");
    const lostAt = clock.now();
    await checkpoint();
    clock.advance(3_600_000);
    await inventory.stop();
    const second = await run(directory, pool, { isAway: true });
    await until(second.isRestored);
    t.equal(second.handle.status().staleSince, lostAt);
    await second.inventory.stop();
  },
);

t.test("changes do not make the file grow without limit", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(0);
  const padding = "x".repeat(4_000);
  const put = (i: number, n: number) => {
    pool.put("VM", `OpaqueRef:${i}`, { uuid: `u${i}`, n, padding });
  };
  for (let i = 0; i < 500; i++) put(i, 0);
  const { inventory, checkpoint, poll, handle } = await run(directory, pool);
  await until(() => handle.status().state === "watching");
  await checkpoint();
  const live = inventory.stats.snapshotCache!.bytes;
  let most = 0;
  for (let round = 1; round <= 40; round++) {
    for (let i = 0; i < 100; i++) put((round * 37 + i * 3) % 500, round);
    await poll();
    await checkpoint();
    const size = sizeOf(directory);
    most = Math.max(most, size);
  }
  t.ok(most > 1.5 * live, "changes are appended");
  t.ok(most < 2.5 * live + (1 << 20), `${most} bytes for ${live}`);
  t.equal(filesOf(directory).length, 1, "one generation at rest");
  await inventory.stop();
  const second = await run(directory, pool, { isAway: true });
  await until(second.isRestored);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
});

t.test("no text of a record is on the disk, nor for others", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(5);
  pool.objects.set("PBD", new Map());
  pool.put("PBD", "OpaqueRef:pbd", {
    uuid: "pbd",
    device_config: { cifspassword: "correct horse battery staple" },
  });
  const { inventory, handle } = await run(directory, pool);
  await until(() => handle.status().state === "watching");
  await inventory.stop();
  const [name] = filesOf(directory);
  const path = join(directory, "p", name!);
  const bytes = readFileSync(path);
  for (const text of ["correct horse", "device_config", "OpaqueRef", "uuid"])
    t.notOk(bytes.includes(text), text);
  t.equal(statSync(path).mode & 0o077, 0);
  t.equal(statSync(join(directory, "p")).mode & 0o077, 0);
});

t.test("the snapshot of a pool that is removed is deleted", async (t) => {
  const directory = t.testdir();
  const { inventory, checkpoint, handle } = await run(directory, poolOf(5));
  await until(() => handle.status().state === "watching");
  await checkpoint();
  await inventory.removePool("p");
  t.same(readdirSync(directory), [".lock"]);
  t.equal(inventory.stats.snapshotCache!.bytes, 0);
  await inventory.stop();
  t.same(readdirSync(directory), []);
});

t.test("cached data of removed pools is deleted", async (t) => {
  const directory = t.testdir({
    gone: { "3.frames": "", "4.frames.new": "" },
    p: { "1.frames": "" },
    foreign: { "letter.txt": "mine" },
    "note.txt": "mine",
  });
  const { inventory, handle } = await run(directory, poolOf(1), {
    retainOnly: ["p", "other"],
  });
  await until(() => handle.status().state === "watching");
  await inventory.stop();
  t.same(readdirSync(directory).toSorted(), ["foreign", "note.txt", "p"]);
  t.same(readdirSync(join(directory, "foreign")), ["letter.txt"]);
});

t.test("ids that are not a file names have folders as well", async (t) => {
  const directory = t.testdir();
  const memory = { directory, key };
  const ids = ["../etc", "a/b", "", "Ä", "lock"];
  for (const isAway of [false, true]) {
    const inventory = createInventory({ snapshotCache: memory });
    for (const id of ids) {
      const pool = poolOf(2);
      if (isAway) pool.setState("connecting");
      inventory.addPool(id, pool);
    }
    await until(() =>
      ids.every((id) => inventory.mirrorStatus(id)!.objects === 2),
    );
    await until(
      () =>
        isAway ||
        ids.every((id) => inventory.mirrorStatus(id)!.state === "watching"),
    );
    await inventory.stop();
  }
  t.equal(readdirSync(directory).length, ids.length);
});

t.test("an invalid key is refused", async (t) => {
  const memory = { directory: t.testdir(), key: key.subarray(1) };
  t.throws(() => createInventory({ snapshotCache: memory }), {
    code: "INVALID_PARAMETERS",
  });
});

function copyPool(from: string, to: string): void {
  for (const name of filesOf(from)) {
    const bytes = readFileSync(join(from, "p", name));
    mkdirSync(join(to, "p"), { recursive: true });
    writeFileSync(join(to, "p", name), bytes);
  }
}

function sizeOf(directory: string): number {
  return filesOf(directory).reduce(
    (sum, name) => sum + statSync(join(directory, "p", name)).size,
    0,
  );
}
