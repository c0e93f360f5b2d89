import t from "tap";
import type { Inventory } from "@xo-server/inventory";
import { FakePool } from "./fake-pool.js";
import { mirror } from "./mirror-pool.js";

const RECORDS = 1500;

/** Records of sizes that differ, as those of a pool do. */
function createPool(): FakePool {
  const pool = new FakePool(["VM", "VDI"]);
  pool.batchSize = 100;
  for (let i = 0; i < RECORDS; i++)
    pool.put(i % 3 === 0 ? "VM" : "VDI", `OpaqueRef:${i}`, {
      uuid: `uuid-${i}`,
      other_config: { padding: "x".repeat((i * 37) % 600) },
    });
  return pool;
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

/** Reads everything in turn. @returns how many were served from the cache */
function readAll(inventory: Inventory): number {
  const before = inventory.stats.cache.hits;
  for (const className of ["VM", "VDI"])
    for (const { record } of inventory.list(className))
      if (record === undefined) throw new Error("it is there");
  return inventory.stats.cache.hits - before;
}

async function workingSetBytes(): Promise<number> {
  const { inventory, handle } = await mirror(createPool(), {
    recordCacheBytes: 2 ** 30,
  });
  readAll(inventory);
  await handle.stop();
  return inventory.stats.cache.bytes;
}

t.test(
  "the second read of everything is served in proportion to what fits",
  async (t) => {
    const whole = await workingSetBytes();
    for (const share of [0.5, 0.75, 0.9, 1, 1.1, 1.5]) {
      const recordCacheBytes = Math.ceil(whole * share);
      const { inventory, handle } = await mirror(createPool(), {
        recordCacheBytes,
        random: createRandom(1),
      });
      t.equal(
        readAll(inventory),
        0,
        "the first read is not served from the cache",
      );
      for (const read of ["second", "third", "tenth"]) {
        const served = readAll(inventory) / RECORDS;
        const percent = `${read} read at ${share}: ${served.toFixed(2)}`;
        if (share >= 1) t.equal(served, 1, percent);
        else t.ok(served > 0.75 * share && served < 1.05 * share, percent);
        if (read === "third") for (let i = 0; i < 6; i++) readAll(inventory);
      }
      const { bytes, limitBytes, evictions } = inventory.stats.cache;
      t.equal(limitBytes, recordCacheBytes);
      t.ok(bytes <= limitBytes, `${bytes} of ${limitBytes}`);
      t.equal(evictions > 0, share < 1);
      await handle.stop();
    }
  },
);

t.test("frequently read entries stay in the cache during a scan", async (t) => {
  const whole = await workingSetBytes();
  const { inventory, handle } = await mirror(createPool(), {
    recordCacheBytes: whole / 10,
    random: createRandom(2),
  });
  readAll(inventory);
  const often = [...inventory.list("VM")].slice(0, 5);
  let served = 0;
  let asked = 0;
  for (const { ref } of inventory.list("VDI")) {
    inventory.get("p", "VDI", ref);
    for (const one of often) {
      const before = inventory.stats.cache.hits;
      inventory.get("p", "VM", one.ref);
      served += inventory.stats.cache.hits - before;
      asked++;
    }
  }
  t.ok(served / asked > 0.9, `${served} of ${asked}`);
  await handle.stop();
});

t.test(
  "a changed record is parsed again and replaces the old one",
  async (t) => {
    const pool = createPool();
    const { inventory, handle, poll } = await mirror(pool);
    readAll(inventory);
    const { records } = inventory.stats.cache;
    pool.put("VM", "OpaqueRef:0", { uuid: "uuid-0", version: 2 });
    await poll();
    t.match(inventory.get("p", "VM", "OpaqueRef:0"), { version: 2 });
    t.equal(inventory.stats.cache.records, records);
    await handle.stop();
  },
);

t.test("a removed object leaves nothing in the cache", async (t) => {
  const pool = createPool();
  const { inventory, handle, poll } = await mirror(pool);
  readAll(inventory);
  for (let i = 0; i < 3; i++) pool.delete("VM", `OpaqueRef:${3 * i}`);
  await poll();
  t.equal(inventory.stats.cache.records, RECORDS - 3);
  pool.put("VM", "OpaqueRef:new", { uuid: "uuid-new" });
  await poll();
  t.match(inventory.get("p", "VM", "OpaqueRef:new"), { uuid: "uuid-new" });
  t.equal(inventory.stats.cache.records, RECORDS - 2);
  await handle.stop();
});

t.test("a removed pool leaves nothing in the cache", async (t) => {
  const { inventory } = await mirror(createPool());
  inventory.addPool("other", createPool());
  while (inventory.mirrorStatus("other")?.state !== "watching")
    await new Promise((resolve) => setImmediate(resolve));
  readAll(inventory);
  t.equal(inventory.stats.cache.records, 2 * RECORDS);
  await inventory.removePool("p");
  t.equal(inventory.stats.cache.records, RECORDS);
  t.equal(readAll(inventory), RECORDS, "the other pool's are still there");
  await inventory.removePool("other");
  const { records, bytes } = inventory.stats.cache;
  t.same({ records, bytes }, { records: 0, bytes: 0 });
});

t.test("a cache of size 0 stores nothing and still reads", async (t) => {
  const { inventory, handle } = await mirror(createPool(), {
    recordCacheBytes: 0,
  });
  t.equal(readAll(inventory), 0);
  t.equal(readAll(inventory), 0);
  t.equal(inventory.stats.cache.records, 0);
  await handle.stop();
});
