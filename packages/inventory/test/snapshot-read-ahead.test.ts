import * as files from "node:fs/promises";
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
