import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { createInventory, type Inventory } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool, type ParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import type { PoolAddress } from "../harness/simulator.js";
import { followAll } from "./follow-all.js";
import { readJob, reportFigures } from "./job.js";
import type { LoadJob } from "./load-job.js";
import { measureLoad, type Loaded } from "./measured-load.js";
import { createServerCatalog } from "./server-catalog.js";
import { untilWatching } from "./until-watching.js";

/** What a server has before a pool is added. */
interface Server {
  readonly decoder: ParserPool;
  readonly inventory: Inventory;
}

// As the server does.
raiseHeapGrowth();
const job = await readJob<LoadJob>();
reportFigures(
  await measureLoad(
    (server) => loadAll(job, server),
    async () => {
      const { place, xml } = job;
      const decoder = createParserPool({ place, xml, xmlStrict: true });
      // A running server has its first thread up when a pool is added.
      while (place !== "main" && !decoder.stats().isUp) await setTimeout(1);
      return { decoder, inventory: createInventory() };
    },
  ),
);

async function loadAll(
  { pools, transport, hasViews = false }: LoadJob,
  server: Server,
): Promise<Loaded> {
  const { inventory, decoder } = server;
  const start = performance.now();
  const loaded = await Promise.all(
    pools.map(async (pool, i) => {
      const xapi = await loadPool({ ...pool, name: `${i}` }, transport, server);
      return { xapi, ms: performance.now() - start };
    }),
  );
  const catalog = hasViews ? createServerCatalog(inventory) : undefined;
  if (catalog !== undefined) await followAll(catalog);
  const bytes = loaded.reduce(
    (sum, { xapi }) => sum + xapi.counters.bytesReceived,
    0,
  );
  return {
    objects: inventory.objects,
    bytes,
    more:
      pools.length === 1
        ? {}
        : Object.fromEntries(loaded.map(({ ms }, i) => [`pool${i}Ms`, ms])),
    async close() {
      catalog?.stop();
      await inventory.stop();
      await Promise.all(loaded.map(({ xapi }) => xapi.disconnect()));
      await decoder.close();
    },
  };
}

/** Starts the client and its mirror together, as the server does. */
async function loadPool(
  { name, url, user, password }: PoolAddress,
  transport: LoadJob["transport"],
  { inventory, decoder }: Server,
) {
  const xapi = createXapi({ hosts: url, user, password, transport, decoder });
  inventory.addPool(name, xapi);
  await Promise.all([xapi.connect(), untilWatching(inventory, name)]);
  return xapi;
}
