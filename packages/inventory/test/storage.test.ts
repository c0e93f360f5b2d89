import t from "tap";
import type { ListOptions } from "@xo-server/xen-api";
import { buildBatch } from "./batch-builder.js";
import { FakePool } from "./fake-pool.js";
import {
  contentOf,
  contentOfPool,
  createTestInventory,
  mirror,
} from "./mirror-pool.js";
import { until } from "./until.js";

const record = (ref: string, size: number) => ({
  uuid: `uuid-${ref}`,
  name_label: ref,
  other_config: { padding: "x".repeat(size) },
});

function poolOf(count: number, size: number): FakePool {
  const pool = new FakePool(["VM", "VDI"]);
  pool.batchSize = 100;
  for (let i = 0; i < count; i++)
    pool.put(
      i % 2 === 0 ? "VM" : "VDI",
      `OpaqueRef:${i}`,
      record(`${i}`, size),
    );
  return pool;
}

t.test("a listing's buffers are retained without copies", async (t) => {
  const { inventory, handle } = await mirror(poolOf(1000, 1000));
  const { segments, segmentBytes, liveBytes, tableBytes } = inventory.stats;
  t.equal(segments, 10);
  t.ok(liveBytes > segmentBytes * 0.99);
  t.ok(tableBytes < 1000 * 250, `${tableBytes} bytes of tables`);
  await handle.stop();
});

t.test(
  "only the first listing of a class asks for buffers that are kept",
  async (t) => {
    const pool = poolOf(10, 10);
    const kept: unknown[] = [];
    const listRecords = pool.listRecords.bind(pool);
    pool.listRecords = (className: string, options: ListOptions) => {
      kept.push(options.isKept);
      return listRecords(className, options);
    };
    const { handle } = await mirror(pool);
    t.same(kept, [true, true]);
    pool.lose("new-session");
    await until(() => pool.listed.length === 4);
    t.same(kept, [true, true, false, false]);
    await handle.stop();
  },
);

t.test("a listing without differences retains none of its data", async (t) => {
  const pool = poolOf(1000, 1000);
  const { inventory, handle, changes } = await mirror(pool);
  const { revision, stats } = inventory;
  pool.lose("new-session");
  await until(() => pool.listed.length === 4);
  await until(() => handle.status().state === "watching");
  t.equal(inventory.revision, revision);
  t.equal(changes.length, 1000);
  t.equal(inventory.stats.segmentBytes, stats.segmentBytes);
  await handle.stop();
});

t.test("a buffer that is mostly other data is not retained", async (t) => {
  const pool = new FakePool(["VM"]);
  pool.put("VM", "OpaqueRef:a", record("a", 10));
  pool.listRecords = async (className: string, { onBatch }: ListOptions) => {
    const batch = buildBatch([
      { className, ref: "OpaqueRef:a", record: record("a", 10) },
    ]);
    const buffer = new ArrayBuffer(10 << 20);
    new Uint8Array(buffer).set(new Uint8Array(batch.buffer));
    onBatch({ ...batch, buffer });
    return { records: 1, bytes: 0 };
  };
  const { inventory, handle } = await mirror(pool);
  t.ok(inventory.stats.segmentBytes <= 256 * 1024);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  await handle.stop();
});

t.test("memory stays bounded under changes, and records survive", async (t) => {
  const pool = poolOf(2000, 1000);
  const { inventory, handle, poll } = await mirror(pool);
  const { liveBytes } = inventory.stats;
  let most = 0;
  for (let round = 0; round < 25; round++) {
    for (let i = 0; i < 300; i++) {
      const n = (round * 131 + i * 7) % 2000;
      pool.put(n % 2 === 0 ? "VM" : "VDI", `OpaqueRef:${n}`, {
        ...record(`${n}`, 1000),
        round,
      });
    }
    await poll();
    most = Math.max(most, inventory.stats.segmentBytes);
  }
  t.ok(most < liveBytes * 1.6, `${most} bytes for ${liveBytes}`);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  for (let i = 0; i < 2000; i += 97)
    t.equal(inventory.getByUuid(`uuid-${i}`)?.ref, `OpaqueRef:${i}`);
  await handle.stop();
});

t.test("deleted rows free their memory", async (t) => {
  const pool = poolOf(2000, 1000);
  const { inventory, handle, poll } = await mirror(pool);
  for (let i = 0; i < 2000; i++)
    if (i % 20 !== 0) pool.delete(i % 2 === 0 ? "VM" : "VDI", `OpaqueRef:${i}`);
  await poll();
  const { segmentBytes, liveBytes } = inventory.stats;
  t.ok(segmentBytes < liveBytes + 512 * 1024, `${segmentBytes}`);
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  await handle.stop();
});

t.test("a record larger than a segment is stored too", async (t) => {
  const pool = poolOf(4, 10);
  const { inventory, handle, poll } = await mirror(pool);
  pool.put("VM", "OpaqueRef:0", record("0", 1 << 20));
  pool.put("VM", "OpaqueRef:big", record("big", 70_000));
  await poll();
  t.same(contentOf(inventory, "p"), contentOfPool(pool));
  pool.put("VM", "OpaqueRef:0", record("0", 10));
  await poll();
  t.ok(inventory.stats.segmentBytes < 1 << 20);
  await handle.stop();
});

t.test("records that are not strict JSON are read all the same", async (t) => {
  const pool = new FakePool(["VM"]);
  const lenientText = `{"uuid":"u","x":NaN,"y":-Infinity,"z":9007199254740993}`;
  pool.listRecords = async (className: string, { onBatch }: ListOptions) => {
    onBatch(buildBatch([{ className, ref: "OpaqueRef:a", lenientText }]));
    return { records: 1, bytes: 0 };
  };
  const { inventory, handle } = await mirror(pool);
  t.same(inventory.get("p", "VM", "OpaqueRef:a"), {
    uuid: "u",
    x: NaN,
    y: -Infinity,
    z: 9007199254740993n,
  });
  await handle.stop();
});

t.test(
  "no turn takes longer than a slice, for any number of pools",
  async (t) => {
    // A clock that advances with each reading: a slice ends after some readings.
    let looks = 0;
    const turns: number[] = [];
    let longestBatch = 0;
    const { inventory } = createTestInventory({
      sliceMs: 10,
      sliceNow: () => ++looks,
      runSection: (label, section) => {
        t.equal(label, "inventory: apply");
        const before = looks;
        section();
        turns.push(looks - before);
      },
    });
    inventory.subscribe((changes) => {
      longestBatch = Math.max(longestBatch, changes.count);
    });
    for (const id of ["a", "b", "c", "d"])
      inventory.addPool(id, poolOf(3000, 1));
    await until(() => inventory.objects === 12_000);
    t.ok(turns.length > 12_000 / 64 / 12, `${turns.length} turns`);
    t.ok(Math.max(...turns) <= 16, `${Math.max(...turns)} looks in a turn`);
    t.ok(longestBatch < 1000, `${longestBatch} changes in one batch`);
    await inventory.stop();
  },
);

t.test("a small pool does not wait for a large one", async (t) => {
  let looks = 0;
  const { inventory } = createTestInventory({
    sliceMs: 5,
    sliceNow: () => ++looks,
  });
  inventory.addPool("big", poolOf(20_000, 1));
  await until(() => inventory.objects > 0);
  inventory.addPool("small", poolOf(100, 1));
  await until(() => inventory.mirrorStatus("small")?.objects === 100);
  t.ok(inventory.mirrorStatus("big")!.objects < 20_000);
  await inventory.stop();
});
