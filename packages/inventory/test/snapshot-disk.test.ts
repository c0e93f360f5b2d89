import * as files from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import t from "tap";
import type { MemoryTestOptions } from "./snapshot-pool.js";
import { contentOf, contentOfPool } from "./mirror-pool.js";
import {
  CHECKPOINT_MS,
  filesOf,
  poolOf,
  run,
  settle,
} from "./snapshot-pool.js";
import { until } from "./until.js";

type Disk = NonNullable<MemoryTestOptions["disk"]>;

/** The real disk until it is full: then a part of a write still fits, or nothing. */
class SmallDisk {
  isFull = false;
  fits = 0;
  failures = 0;
  readonly disk: Disk = {
    ...files,
    open: async (...args: Parameters<Disk["open"]>) =>
      this.#watch(await files.open(...args)),
  };

  #watch(file: FileHandle): FileHandle {
    const writev = file.writev.bind(file);
    const write = async (parts: readonly Uint8Array[], position?: number) => {
      if (!this.isFull) return writev(parts, position);
      this.failures++;
      if (this.fits === 0) throw new Error("ENOSPC: no space left on device");
      return writev([Buffer.concat(parts).subarray(0, this.fits)], position);
    };
    file.writev = write as unknown as FileHandle["writev"];
    return file;
  }
}

for (const fits of [0, 30])
  t.test(
    `a full disk (${fits} bytes fit) affects only the snapshot cache`,
    async (t) => {
      const directory = t.testdir();
      const small = new SmallDisk();
      small.fits = fits;
      const pool = poolOf(20);
      const { inventory, clock, lines, poll, handle, checkpoint } = await run(
        directory,
        pool,
        { disk: small.disk },
      );
      await until(() => handle.status().state === "watching");
      await checkpoint();
      small.isFull = true;
      pool.put("VM", "OpaqueRef:1", { uuid: "u1", n: 1 });
      pool.delete("VM", "OpaqueRef:2");
      await poll();
      clock.advance(CHECKPOINT_MS);
      await until(() => inventory.stats.snapshotCache!.failing === 1);
      t.match(lines, [
        {
          level: "warn",
          message:
            /p: the snapshot cannot be written, next attempts every 60 s/,
        },
      ]);
      for (let i = 0; i < 10; i++) {
        clock.advance(CHECKPOINT_MS);
        await settle(5);
      }
      t.equal(small.failures, 1, "it is not tried again immediately");
      t.equal(lines.length, 1);
      const checkpointUntil = async (condition: () => boolean) => {
        for (let i = 0; i < 500 && !condition(); i++) {
          clock.advance(CHECKPOINT_MS);
          await settle(5);
        }
      };
      await checkpointUntil(() => small.failures > 1);
      t.equal(small.failures, 2, "it is tried again after the interval");
      t.equal(lines.length, 1, "logged once");

      small.isFull = false;
      await checkpointUntil(() => inventory.stats.snapshotCache!.failing === 0);
      t.match(lines.at(-1), {
        message: "p: the snapshot can be written again",
      });
      await inventory.stop();
    },
  );

t.test("after a full disk nothing is missing", async (t) => {
  const directory = t.testdir();
  const small = new SmallDisk();
  small.fits = 50;
  const pool = poolOf(20);
  const { inventory, poll, handle, checkpoint, clock } = await run(
    directory,
    pool,
    { disk: small.disk, retryMs: 1 },
  );
  await until(() => handle.status().state === "watching");
  await checkpoint();
  for (let round = 0; round < 6; round++) {
    small.isFull = round % 2 === 0;
    pool.put("VM", `OpaqueRef:${round}`, { uuid: `u${round}`, round });
    pool.delete("VM", `OpaqueRef:${10 + round}`);
    await poll();
    if (small.isFull) {
      clock.advance(CHECKPOINT_MS);
      await until(() => inventory.stats.snapshotCache!.failing === 1);
    } else await checkpoint();
  }
  small.isFull = true;
  await inventory.stop();
  const second = await run(directory, pool, { isAway: true });
  await until(second.isRestored);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  await second.inventory.stop();
});

t.test(
  "a disk that is full from the start leaves no partial file",
  async (t) => {
    const directory = t.testdir();
    const small = new SmallDisk();
    small.isFull = true;
    small.fits = 10;
    const { inventory, clock, handle } = await run(directory, poolOf(20), {
      disk: small.disk,
    });
    await until(() => handle.status().state === "watching");
    clock.advance(CHECKPOINT_MS);
    await until(() => inventory.stats.snapshotCache!.failing === 1);
    await inventory.stop();
    t.same(filesOf(directory), []);
  },
);

t.test("an old file that cannot be deleted does not count", async (t) => {
  const directory = t.testdir();
  const pool = poolOf(0);
  const padding = "x".repeat(4_000);
  const put = (n: number) => {
    for (let i = 0; i < 300; i++)
      pool.put("VM", `OpaqueRef:${i}`, { uuid: `u${i}`, n, padding });
  };
  put(0);
  const rm: Disk["rm"] = async (path, options) => {
    if (String(path).endsWith(".frames")) throw new Error("EIO: i/o error");
    await files.rm(path, options);
  };
  const { inventory, handle, checkpoint, poll, lines } = await run(
    directory,
    pool,
    { disk: { ...files, rm } },
  );
  await until(() => handle.status().state === "watching");
  await checkpoint();
  for (let n = 1; filesOf(directory).length < 2; n++) {
    put(n);
    await poll();
    await checkpoint();
  }
  pool.put("VM", "OpaqueRef:1", { uuid: "u1", n: "last" });
  await poll();
  await inventory.stop();
  t.same(lines, []);
  const second = await run(directory, pool, { isAway: true });
  await until(second.isRestored);
  t.same(contentOf(second.inventory, "p"), contentOfPool(pool));
  t.same(filesOf(directory), ["2.frames"]);
  await second.inventory.stop();
});
