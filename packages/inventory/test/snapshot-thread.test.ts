import * as files from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import t from "tap";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import {
  CHECKPOINT_MS,
  poolOf,
  run,
  type MemoryTestOptions,
} from "./snapshot-pool.js";
import { until } from "./until.js";

type Disk = NonNullable<MemoryTestOptions["disk"]>;

const VMS = 100;
const RECORD_BYTES = 8_000;

/** A pool with 800 KB of VMs in shared memory, and few other objects. */
function largePool() {
  const pool = poolOf(2, "host");
  pool.listsShared = true;
  for (let i = 0; i < VMS; i++) pool.put("VM", `OpaqueRef:vm${i}`, record(i));
  return pool;
}

function record(i: number, n = 0) {
  // Equal values would be stored once.
  const name_label = `VM ${i} `.padEnd(RECORD_BYTES, "x");
  return { uuid: `u${i}`, n, name_label };
}

/** The real disk, whose files of snapshots are changed by `change` when they are opened. */
function diskWith(change: (file: FileHandle) => void): Disk {
  return {
    ...files,
    open: async (...args: Parameters<Disk["open"]>) => {
      const file = await files.open(...args);
      if (String(args[0]).endsWith(".frames.new")) change(file);
      return file;
    },
  };
}

t.test("a thread writes the records of a pool", async (t) => {
  const directory = t.testdir();
  const pool = largePool();
  let written = 0;
  const disk = diskWith((file) => {
    const writev = file.writev.bind(file);
    const count = async (parts: readonly Uint8Array[], position?: number) => {
      for (const { length } of parts) written += length;
      return writev(parts, position);
    };
    file.writev = count as unknown as FileHandle["writev"];
  });
  const first = await run(directory, pool, { disk });
  await until(first.isRestored);
  // Changed records are not in shared memory.
  pool.put("VM", "OpaqueRef:vm7", record(7, 1));
  await first.poll();
  await first.checkpoint();
  const { bytes } = first.inventory.stats.snapshotCache!;
  t.ok(bytes > VMS * RECORD_BYTES, `${bytes} bytes`);
  t.ok(written < 3 * RECORD_BYTES, `${written} bytes on the main thread`);
  await first.inventory.stop();
  const next = await run(directory, pool, { isAway: true });
  await until(next.isRestored);
  t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
  await next.inventory.stop();
});

t.test("a pool that changes while the thread writes", async (t) => {
  const directory = t.testdir();
  const pool = largePool();
  let change: (() => Promise<void>) | undefined;
  const disk = diskWith((file) => {
    const truncate = file.truncate.bind(file);
    // Before each part of the thread, and before the frames of the main thread.
    file.truncate = async (length) => {
      await truncate(length);
      await change?.();
    };
  });
  const first = await run(directory, pool, { disk });
  await until(first.isRestored);
  let changes = 0;
  change = async () => {
    changes++;
    pool.put("VM", "OpaqueRef:vm7", record(7, changes));
    pool.put("VM", `OpaqueRef:new${changes}`, record(1_000 + changes));
    pool.delete("VM", `OpaqueRef:vm${10 + changes}`);
    await first.poll();
  };
  await first.checkpoint();
  change = undefined;
  t.ok(changes > 0);
  await first.checkpoint();
  await first.inventory.stop();
  const next = await run(directory, pool, { isAway: true });
  await until(next.isRestored);
  t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
  await next.inventory.stop();
});

t.test("a thread that cannot write: another attempt later", async (t) => {
  const directory = t.testdir();
  const pool = largePool();
  let isBroken = true;
  const disk = diskWith((file) => {
    // As of a disk that has failed since the file was opened.
    if (isBroken) Object.defineProperty(file, "fd", { value: 1_000_000 });
  });
  const first = await run(directory, pool, { disk });
  await until(first.isRestored);
  first.clock.advance(CHECKPOINT_MS);
  await until(() => first.inventory.stats.snapshotCache!.failing === 1);
  t.match(first.lines, [
    { level: "warn", message: /the snapshot cannot be written.*EBADF/ },
  ]);
  isBroken = false;
  await first.inventory.stop();
  const next = await run(directory, pool, { isAway: true });
  await until(next.isRestored);
  t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
  await next.inventory.stop();
});
