import * as files from "node:fs/promises";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { FakePool } from "./fake-pool.js";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import { poolOf, run, type MemoryTestOptions } from "./snapshot-pool.js";
import { until } from "./until.js";

/** Bytes of a record: a file of 600 is read by a thread, in several frames. */
const RECORD_BYTES = 8_000;

function largePool(): FakePool {
  const pool = poolOf(0);
  for (let i = 0; i < 600; i++) pool.put("VM", `OpaqueRef:${i}`, record(i, 0));
  return pool;
}

function record(i: number, n: number) {
  // Equal values would be stored once.
  const name_label = `VM ${i} `.padEnd(RECORD_BYTES, "x");
  return { uuid: `u${i}`, n, name_label };
}

/** A file of a large pool, to which a change of one VM was appended. */
async function writtenFile(t: Test) {
  const directory = t.testdir();
  const pool = largePool();
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.checkpoint();
  const before = contentOfPool(pool);
  const { bytes } = first.inventory.stats.snapshotCache!;
  pool.put("VM", "OpaqueRef:7", record(7, 1));
  await first.poll();
  await first.inventory.stop();
  return { directory, pool, before, bytes };
}

t.test("a large file is restored with its last changes", async (t) => {
  const { directory, pool, bytes } = await writtenFile(t);
  t.ok(bytes > 4_000_000, `${bytes} bytes`);
  const next = await run(directory, pool, { isAway: true });
  await until(next.isRestored);
  t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
  await next.inventory.stop();
});

t.test("damage in a large file ends reading there", async (t) => {
  const { directory, pool, before, bytes } = await writtenFile(t);
  const path = join(directory, "p", "1.frames");
  const content = readFileSync(path);
  content[bytes + 100]! ^= 1;
  writeFileSync(path, content);
  const next = await run(directory, pool, { isAway: true });
  await until(next.isRestored);
  t.same(contentOf(next.inventory, "p"), before);
  t.equal(
    next.inventory.stats.snapshotCache!.droppedBytes,
    content.length - bytes,
  );
  await next.inventory.stop();
});

t.test("a large file that cannot be read: the pool is listed", async (t) => {
  const { directory, pool } = await writtenFile(t);
  const disk: MemoryTestOptions["disk"] = {
    ...files,
    open: async (...args) => {
      const file = await files.open(...args);
      if (!String(args[0]).endsWith(".frames")) return file;
      // As of a disk that has failed since the file was opened.
      Object.defineProperty(file, "fd", { value: 1_000_000 });
      return file;
    },
  };
  const next = await run(directory, pool, { disk });
  await until(() => next.handle.status().state === "watching");
  t.same(contentOf(next.inventory, "p"), contentOfPool(pool));
  t.match(
    next.lines.filter(({ level }) => level === "warn"),
    [{ message: /the snapshot cannot be read: EBADF/ }],
  );
  await next.inventory.stop();
});

t.test("a server that stops while it reads a large file", async (t) => {
  const { directory, pool } = await writtenFile(t);
  const next = await run(directory, pool, { isAway: true });
  await next.inventory.stop();
  const last = await run(directory, pool, { isAway: true });
  await until(last.isRestored);
  t.same(contentOf(last.inventory, "p"), contentOfPool(pool));
  await last.inventory.stop();
});
