import { setTimeout } from "node:timers/promises";
import { createInventory, type PoolSource } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { followAll } from "./follow-all.js";
import { readJob, reportFigures } from "./job.js";
import type { RestartJob } from "./restart-job.js";
import { createServerCatalog } from "./server-catalog.js";
import { measureWork } from "./stopwatch.js";

/** Of a pool that does not answer: it gets no requests. */
const unreachable = {
  state: { name: "connecting" },
  onState: () => () => undefined,
} as unknown as PoolSource;

// As the server does.
raiseHeapGrowth();
const job = await readJob<RestartJob>();
const programMs = sinceStart();
const inventory = createInventory({
  snapshotCache: { directory: job.directory, key: Buffer.from(job.key, "hex") },
});
inventory.addPool(job.poolId, unreachable);
let allThereMs = 0;
const { ms, ...work } = await measureWork(async () => {
  while (inventory.objects < job.objects) await setTimeout(1);
  allThereMs = sinceStart();
  await followAll(createServerCatalog(inventory));
});
const viewsMs = sinceStart();
reportFigures({
  ms,
  ...work,
  programMs,
  allThereMs,
  viewsMs,
  objects: inventory.objects,
});

/** Time since the start of the process, in ms. */
function sinceStart(): number {
  return Date.now() - job.startedAt;
}
