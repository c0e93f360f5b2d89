import { setTimeout } from "node:timers/promises";
import { createInventory } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import { blockFigures, watchBlocks } from "./block-histogram.js";
import type { FleetRestartJob } from "./fleet-job.js";
import { readJob, reportFigures } from "./job.js";
import { collectGarbage } from "./memory.js";
import { untilWatching } from "./until-watching.js";

/** How often the number of loaded objects is checked. */
const LOOK_MS = 2;
/** Until the latest changes are written. */
const CHECKPOINT_MS = 1000;

raiseHeapGrowth();
const blocks = watchBlocks();
const job = await readJob<FleetRestartJob>();
const inventory = createInventory({
  snapshotCache: {
    directory: job.directory,
    key: Buffer.from(job.key, "hex"),
    checkpointMs: CHECKPOINT_MS,
  },
});
const decoder = createParserPool();
const watching = Promise.all(
  job.pools.map(async ({ name, url, user, password }) => {
    const xapi = createXapi({ hosts: url, user, password, decoder });
    inventory.addPool(name, xapi);
    await Promise.all([xapi.connect(), untilWatching(inventory, name)]);
  }),
);
while (inventory.objects < job.objects) await setTimeout(LOOK_MS);
// Since the process began: `performance` counts from there.
const knownMs = performance.now();
const known = blockFigures("restore", await blocks.stop());
const rssBytes = process.memoryUsage().rss;
await watching;
const watchingMs = performance.now();
await setTimeout(5 * CHECKPOINT_MS);
await collectGarbage();
const { objects, stats } = inventory;
const figures = {
  ms: knownMs,
  watchingMs,
  objects,
  restoredRssBytes: rssBytes,
  rssBytes: process.memoryUsage().rss,
  diskBytes: stats.snapshotCache?.bytes ?? 0,
  restoreMs: stats.snapshotCache?.restoreMs ?? 0,
  ...known,
};
await inventory.stop();
reportFigures(figures);
