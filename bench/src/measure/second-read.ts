import { setTimeout } from "node:timers/promises";
import {
  createCatalog,
  createInventory,
  type CatalogOptions,
  type Inventory,
  type InventoryOptions,
} from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool } from "@xo-server/parser-pool";
import { createDerivedPools } from "@xo-server/xapi-sim";
import { ChangingPool } from "./changing-pool.js";
import { followAll } from "./follow-all.js";
import { readJob, reportFigures } from "./job.js";
import type { SecondReadJob } from "./second-read-job.js";
import { measureWork, type WorkFigures } from "./stopwatch.js";
import { untilWatching } from "./until-watching.js";

/** More than any working set here. */
const UNBOUNDED = 2 ** 40;
/** Objects read before others get a turn. */
const AT_A_TIME = 200;

/** A cache, and how to read everything through it. */
interface Reader {
  readonly stats: () => { bytes: number; hits: number; misses: number };
  readonly readAll: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

// As the server does.
raiseHeapGrowth();
const job = await readJob<SecondReadJob>();
const decoder = createParserPool();
while (!decoder.stats().isUp) await setTimeout(1);
const pools = createDerivedPools(job.size);
const open = job.of === "records" ? openRecords : openViews;

const whole = await open(UNBOUNDED);
await whole.readAll();
const workingSetBytes = whole.stats().bytes;
await whole.stop();

const bounded = await open(Math.floor(workingSetBytes * job.share));
const first = await measureWork(bounded.readAll);
const before = bounded.stats();
let objects = 0;
const second = await measureWork(async () => {
  objects = await bounded.readAll();
});
const after = bounded.stats();
reportFigures({
  ...second,
  share: job.share,
  objects,
  workingSetBytes,
  firstCpuUs: perObject(first),
  secondCpuUs: perObject(second),
  hitShare: (after.hits - before.hits) / objects,
});

function perObject({ cpuMs }: WorkFigures): number {
  return (cpuMs / objects) * 1000;
}

async function openRecords(recordCacheBytes: number): Promise<Reader> {
  const inventory = await load({ recordCacheBytes });
  return {
    stats: () => inventory.stats.cache,
    readAll: () => readRecords(inventory),
    stop: () => inventory.stop(),
  };
}

async function readRecords(inventory: Inventory): Promise<number> {
  let read = 0;
  for (const poolId of inventory.pools)
    for (const className of inventory.counts(poolId).keys())
      for (const object of inventory.list(className, { poolId })) {
        inventory.get(poolId, className, object.ref);
        if (++read % AT_A_TIME === 0) await setTimeout();
      }
  return read;
}

async function openViews(viewCacheBytes: number): Promise<Reader> {
  const inventory = await load({});
  const options: CatalogOptions = { viewCacheBytes };
  const catalog = createCatalog(inventory, options);
  const tables = await followAll(catalog);
  return {
    stats: () => catalog.stats.cache,
    readAll: async () => {
      let read = 0;
      for (const table of tables)
        for (let row = 0; row < table.rows; row++) {
          if (!table.isLive(row)) continue;
          table.json(row);
          if (++read % AT_A_TIME === 0) await setTimeout();
        }
      return read;
    },
    stop: async () => {
      catalog.stop();
      await inventory.stop();
    },
  };
}

async function load(options: InventoryOptions): Promise<Inventory> {
  const inventory = createInventory(options);
  for (const [i, pool] of pools.entries())
    inventory.addPool(`p${i}`, new ChangingPool(pool, decoder));
  await Promise.all(pools.map((_, i) => untilWatching(inventory, `p${i}`)));
  return inventory;
}
