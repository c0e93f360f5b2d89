import * as files from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import {
  contentOf,
  contentOfPool,
  createTestInventory,
} from "./mirror-pool.js";
import {
  key,
  poolOf,
  run,
  settle,
  type MemoryTestOptions,
} from "./snapshot-pool.js";
import { until } from "./until.js";

type Disk = NonNullable<MemoryTestOptions["disk"]>;
type File = Awaited<ReturnType<Disk["open"]>>;

/** The real disk; the snapshot files that were opened are listed. */
class ListingDisk {
  readonly opened: File[] = [];
  readonly disk: Disk = {
    ...files,
    open: async (path, ...rest) => {
      const file = await files.open(path, ...rest);
      if (String(path).endsWith(".frames")) this.opened.push(file);
      return file;
    },
  };
}

/** A directory with the snapshot of a pool of `count` VMs. */
async function writeSnapshot(directory: string, count: number) {
  const pool = poolOf(count);
  const first = await run(directory, pool);
  await until(first.isRestored);
  await first.inventory.stop();
  return pool;
}

t.test(
  "a snapshot that is read before its pool is added is restored with it",
  async (t) => {
    const directory = t.testdir();
    const pool = await writeSnapshot(directory, 50);
    const { disk, opened } = new ListingDisk();
    const { inventory } = createTestInventory({
      snapshotCache: { directory, key, disk, readAhead: ["p"] },
    });
    await until(() => opened.length === 1);

    pool.setState("connecting");
    const handle = inventory.addPool("p", pool);
    t.ok(handle.status().isLoading);
    await until(() => handle.status().staleSince !== undefined);
    t.same(contentOf(inventory, "p"), contentOfPool(pool));
    t.equal(opened.length, 1, "read once");
    await inventory.stop();
    t.equal(opened[0]!.fd, -1, "closed");
  },
);

t.test(
  "a snapshot that is read ahead without its pool is closed at the end",
  async (t) => {
    const directory = t.testdir();
    await writeSnapshot(directory, 5);
    const { disk, opened } = new ListingDisk();
    const { inventory } = createTestInventory({
      snapshotCache: { directory, key, disk, readAhead: ["p", "none"] },
    });
    await until(() => opened.length === 1);
    await inventory.stop();
    t.equal(opened[0]!.fd, -1);
  },
);

t.test(
  "a pool that is removed and added again has no snapshot of before",
  async (t) => {
    const directory = t.testdir();
    const pool = await writeSnapshot(directory, 5);
    const { inventory } = createTestInventory({
      snapshotCache: { directory, key, readAhead: ["p"] },
    });
    pool.setState("connecting");
    const handle = inventory.addPool("p", pool);
    await until(() => handle.status().staleSince !== undefined);
    await inventory.removePool("p");
    inventory.addPool("p", pool);
    await settle();
    t.equal(inventory.objects, 0);
    await inventory.stop();
  },
);

/** The real disk, on which opening a file of a pool takes until `goOn` is called. */
function holdingDisk(poolId: string) {
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const disk: Disk = {
    ...files,
    open: async (path, ...rest) => {
      if (String(path).includes(`/${poolId}/`)) await held;
      return files.open(path, ...rest);
    },
  };
  return { disk, goOn };
}

t.test(
  "a pool with a snapshot is to be connected when all snapshots are read, another one at once",
  async (t) => {
    const directory = t.testdir();
    const pool = await writeSnapshot(directory, 5);
    await files.cp(join(directory, "p"), join(directory, "slow"), {
      recursive: true,
    });
    const { disk, goOn } = holdingDisk("slow");
    const { inventory } = createTestInventory({
      snapshotCache: { directory, key, disk, readAhead: ["slow", "p"] },
    });
    pool.setState("connecting");
    const mayConnect: string[] = [];
    const handles = ["slow", "p", "new"].map((id) => {
      const handle = inventory.addPool(id, pool);
      void handle.mayConnect.then(() => mayConnect.push(id));
      return handle;
    });
    await until(() => handles[1]!.status().staleSince !== undefined);
    await settle();
    t.same(mayConnect, ["new"]);
    goOn();
    await until(() => mayConnect.length === 3);
    await inventory.stop();
  },
);
