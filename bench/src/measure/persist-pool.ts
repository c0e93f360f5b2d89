import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInventory } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import { readJob, reportFigures } from "./job.js";
import type { PersistJob } from "./restart-job.js";
import { untilWatching } from "./until-watching.js";

// As the server does.
raiseHeapGrowth();
const { pool, directory, key } = await readJob<PersistJob>();
const { url, user, password, name } = pool;
const inventory = createInventory({
  snapshotCache: { directory, key: Buffer.from(key, "hex") },
});
const decoder = createParserPool();
const xapi = createXapi({ hosts: url, user, password, decoder });
inventory.addPool(name, xapi);
await Promise.all([xapi.connect(), untilWatching(inventory, name)]);
const { objects } = inventory;
await inventory.stop();
await xapi.disconnect();
reportFigures({ objects, diskBytes: await sizeOf(directory) });

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map(({ parentPath, name }) =>
    stat(join(parentPath, name)),
  );
  return (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
}
