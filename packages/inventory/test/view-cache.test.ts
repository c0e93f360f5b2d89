import t from "tap";
import { type Catalog } from "@xo-server/inventory";
import { catalogOf, record, refOf } from "./catalog-pool.js";
import { createRandom } from "./catalog-history.js";
import { FakePool } from "./fake-pool.js";

const OBJECTS = 400;

/** SRs of sizes that differ. */
function createPool(): FakePool {
  const pool = new FakePool(["pool", "SR"]);
  pool.put("pool", refOf("pool"), record("pool"));
  pool.batchSize = 100;
  for (let i = 0; i < OBJECTS; i++) {
    const name_label = "x".repeat((i * 37) % 600);
    pool.put("SR", refOf(`s${i}`), record(`s${i}`, { name_label }));
  }
  return pool;
}

/** Reads all SRs in turn. @returns how many were served from the cache */
function readAll(catalog: Catalog): number {
  const before = catalog.stats.cache.hits;
  const table = catalog.tables.get("SR")!;
  for (let row = 0; row < table.rows; row++)
    if (table.isLive(row)) table.json(row);
  return catalog.stats.cache.hits - before;
}

async function following(viewCacheBytes: number) {
  const random = createRandom(1);
  return catalogOf(createPool(), {
    viewCacheBytes,
    random: () => random(2 ** 30) / 2 ** 30,
  });
}

t.test(
  "the second read of all objects is served in proportion to what fits",
  async (t) => {
    const whole = await following(2 ** 30);
    readAll(whole.catalog);
    const { bytes } = whole.catalog.stats.cache;
    await whole.stop();
    for (const share of [0.5, 0.75, 0.9, 1, 1.5]) {
      const { catalog, stop } = await following(Math.ceil(bytes * share));
      readAll(catalog);
      for (const read of ["second", "third", "fourth"]) {
        const served = readAll(catalog) / OBJECTS;
        const said = `${read} read at ${share}: ${served.toFixed(2)}`;
        if (share >= 1) t.equal(served, 1, said);
        else t.ok(served > 0.75 * share && served < 1.1 * share, said);
      }
      const { cache } = catalog.stats;
      t.ok(cache.bytes <= cache.limitBytes);
      await stop();
    }
  },
);
