import { isDeepStrictEqual } from "node:util";
import * as files from "node:fs/promises";
import t, { type Test } from "tap";
import type { FakePool } from "./fake-pool.js";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import { poolOf, run } from "./snapshot-pool.js";
import { until } from "./until.js";

const VMS = 3_000;

/** Records of several blocks, with texts of all kinds; `n` changes. */
function record(i: number, n: number): Record<string, unknown> {
  return {
    uuid: uuidOf(i),
    n,
    name_label: i % 7 === 0 ? `Büro "${i}" 中文` : `vm-${i}`,
    power_state: i % 2 === 0 ? "Running" : "Halted",
    is_a_template: false,
    memory_target: String(i * 1024 ** 3),
    tags: i % 3 === 0 ? [] : [`tag-${i % 5}`],
    last_booted_record: `${"config ".repeat(40)}${i}`,
  };
}

function uuidOf(i: number): string {
  return `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;
}

function sharedPool(): FakePool {
  const pool = poolOf(0);
  pool.batchSize = 500;
  pool.listsShared = true;
  for (let i = 0; i < VMS; i++) pool.put("VM", `OpaqueRef:${i}`, record(i, 0));
  return pool;
}

/** A server whose first checkpoint has compressed the records. */
async function compressed(t: Test, pool = sharedPool()) {
  const directory = t.testdir();
  const server = await run(directory, pool);
  await until(server.isRestored);
  const before = server.inventory.stats;
  await server.checkpoint();
  await until(() => {
    const { compressedBytes, segmentBytes } = server.inventory.stats;
    return compressedBytes === segmentBytes;
  });
  return { ...server, directory, pool, before };
}

t.test(
  "records of a written pool are compressed, and read as before",
  async (t) => {
    const { inventory, pool, before } = await compressed(t);
    const { segmentBytes, liveBytes } = inventory.stats;
    t.equal(liveBytes, before.liveBytes, "no record is missing");
    t.ok(
      segmentBytes < before.segmentBytes / 2,
      `${segmentBytes} instead of ${before.segmentBytes} bytes`,
    );
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    for (const i of [0, 7, 999, VMS - 1]) {
      const vm = inventory.getByUuid(uuidOf(i))!;
      t.equal(vm.ref, `OpaqueRef:${i}`);
      t.equal(vm.uuid, uuidOf(i));
      t.equal(vm.column("name_label"), record(i, 0)["name_label"]);
      t.same(vm.column("tags"), record(i, 0)["tags"]);
      t.same(vm.record, record(i, 0));
    }
    await inventory.stop();
  },
);

t.test("equal values of the records of a block are stored once", async (t) => {
  const bytesWith = async (description: (i: number) => string) => {
    const pool = sharedPool();
    for (let i = 0; i < VMS; i++) {
      const name_description = description(i);
      pool.put("VM", `OpaqueRef:${i}`, { ...record(i, 0), name_description });
    }
    const { inventory } = await compressed(t, pool);
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    const { compressedBytes } = inventory.stats;
    await inventory.stop();
    return compressedBytes;
  };
  const text = "database server ".repeat(10);
  const equal = await bytesWith((i) => `${text}${i % 3}`);
  const different = await bytesWith((i) => `${text}${i}`);
  t.ok(
    equal < different - 0.9 * VMS * text.length,
    `${equal} instead of ${different} bytes`,
  );
});

t.test(
  "values at the same place of different blocks are not confused",
  async (t) => {
    const pool = sharedPool();
    // Records of one length: all blocks have their values at the same places.
    const tagsOf = (i: number) => [`tag-${String(i).padStart(4, "0")}`];
    for (let i = 0; i < VMS; i++)
      pool.put("VM", `OpaqueRef:${String(i).padStart(4, "0")}`, {
        ...record(1, 0),
        uuid: uuidOf(VMS + i),
        tags: tagsOf(i),
      });
    const { inventory } = await compressed(t, pool);
    const read = (i: number) =>
      inventory.getByUuid(uuidOf(VMS + i))!.column("tags");
    const wrong: number[] = [];
    for (let i = 1; i < VMS; i++)
      if (!isDeepStrictEqual([read(0), read(i)], [tagsOf(0), tagsOf(i)]))
        wrong.push(i);
    t.same(wrong, []);
    await inventory.stop();
  },
);

t.test(
  "objects change and disappear while their records are compressed",
  async (t) => {
    const { inventory, pool, poll } = await compressed(t);
    const digest = inventory.digest("p");
    pool.put("VM", "OpaqueRef:5", record(5, 1));
    pool.delete("VM", "OpaqueRef:6");
    pool.put("VM", "OpaqueRef:new", record(VMS, 0));
    await poll();
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    t.equal(inventory.getByUuid(uuidOf(6)), undefined);
    t.not(inventory.digest("p"), digest);
    pool.put("VM", "OpaqueRef:5", record(5, 0));
    pool.put("VM", "OpaqueRef:6", record(6, 0));
    pool.delete("VM", "OpaqueRef:new");
    await poll();
    t.equal(inventory.digest("p"), digest, "the same objects as at first");
    for (let i = 0; i < VMS; i++) pool.delete("VM", `OpaqueRef:${i}`);
    await poll();
    t.equal(inventory.stats.compressedBytes, 0, "their memory is free");
    await inventory.stop();
  },
);

t.test("after a restart records are compressed from the start", async (t) => {
  const { inventory, pool, directory, poll, checkpoint } = await compressed(t);
  pool.put("VM", "OpaqueRef:5", record(5, 1));
  pool.delete("VM", "OpaqueRef:6");
  await poll();
  await checkpoint();
  const digest = inventory.digest("p");
  await inventory.stop();
  const next = await run(directory, pool, { isAway: true });
  await until(next.isRestored);
  const { stats } = next.inventory;
  const others = stats.segmentBytes - stats.compressedBytes;
  t.ok(others <= 256 * 1024, `${others} bytes for a changed record`);
  t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
  t.equal(next.inventory.digest("p"), digest);
  await next.inventory.stop();
});

t.test(
  "a file that is mostly obsolete is written again from compressed records",
  async (t) => {
    const { inventory, pool, directory, poll, checkpoint } =
      await compressed(t);
    // Twice the size of all records, by changes of a third of the VMs.
    for (let n = 1; n <= 8; n++) {
      for (let i = 0; i < VMS / 3; i++)
        pool.put("VM", `OpaqueRef:${i}`, record(i, n));
      await poll();
      await checkpoint();
    }
    await inventory.stop();
    const next = await run(directory, pool, { isAway: true });
    await until(next.isRestored);
    t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
    const { bytes } = next.inventory.stats.snapshotCache!;
    t.ok(bytes < 4_000_000, `${bytes} bytes in the file`);
    await next.inventory.stop();
  },
);

t.test(
  "a listing compares with compressed records, and changes nothing",
  async (t) => {
    const { inventory, pool } = await compressed(t);
    const { revision } = inventory;
    const { compressedBytes } = inventory.stats;
    const listed = pool.listed.length;
    pool.lose("events-lost");
    await until(() => pool.listed.length >= listed + 4);
    await until(() => inventory.stats.objects === VMS);
    t.equal(inventory.revision, revision);
    t.equal(inventory.stats.compressedBytes, compressedBytes);
    await inventory.stop();
  },
);

t.test(
  "a record larger than a block, and one that is not strict JSON",
  async (t) => {
    const pool = sharedPool();
    const large = {
      ...record(1, 0),
      last_booted_record: "x".repeat(300_000),
    };
    pool.put("VM", "OpaqueRef:1", large);
    const { inventory, directory } = await compressed(t, pool);
    for (const name of ["OpaqueRef:0", "OpaqueRef:1", "OpaqueRef:2"])
      t.same(inventory.get("p", "VM", name), pool.objects.get("VM")!.get(name));
    await inventory.stop();
    const next = await run(directory, pool, { isAway: true });
    await until(next.isRestored);
    t.same(next.inventory.get("p", "VM", "OpaqueRef:1"), large);
    await next.inventory.stop();
  },
);

t.test("a checkpoint that fails leaves the records as they are", async (t) => {
  const pool = sharedPool();
  const server = await run(t.testdir(), pool, {
    disk: {
      ...files,
      rename: async () => {
        throw new Error("no space left on device");
      },
    },
  });
  await until(server.isRestored);
  server.clock.advance(5_000);
  await until(() => server.inventory.stats.snapshotCache!.failing === 1);
  t.equal(server.inventory.stats.compressedBytes, 0);
  t.same(contentOf(server.inventory, "p"), contentOfPool(pool));
  pool.put("VM", "OpaqueRef:5", record(5, 1));
  await server.poll();
  t.same(contentOf(server.inventory, "p"), contentOfPool(pool));
  await server.inventory.stop();
});

t.test(
  "objects that change while their pool is written stay as they are",
  async (t) => {
    const directory = t.testdir();
    const pool = sharedPool();
    const change = async () => {
      pool.put("VM", "OpaqueRef:5", record(5, 1));
      pool.delete("VM", "OpaqueRef:6");
      // Its row is free for another object.
      await server.poll();
      pool.put("VM", "OpaqueRef:new", record(VMS, 0));
      await server.poll();
    };
    const server = await run(directory, pool, {
      disk: {
        ...files,
        // The thread has written all records.
        rename: async (...args) => {
          await change();
          await files.rename(...args);
        },
      },
    });
    await until(server.isRestored);
    await server.checkpoint();
    await until(() => {
      const { compressedBytes, segmentBytes } = server.inventory.stats;
      return segmentBytes - compressedBytes <= 256 * 1024;
    });
    t.same(contentOf(server.inventory, "p"), contentOfPool(pool));
    t.equal(server.inventory.getByUuid(uuidOf(6)), undefined);
    await server.inventory.stop();
    const next = await run(directory, pool, { isAway: true });
    await until(next.isRestored);
    t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
    await next.inventory.stop();
  },
);
