import { setTimeout } from "node:timers/promises";
import { createInventory } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool } from "@xo-server/parser-pool";
import { createXapi } from "@xo-server/xen-api";
import type { ChurnJob } from "./churn-job.js";
import { toFeedMessage } from "./feed-message.js";
import { followAll } from "./follow-all.js";
import { readJob, reportFigures } from "./job.js";
import { profileShares } from "./profile-shares.js";
import { createServerCatalog } from "./server-catalog.js";
import { untilWatching } from "./until-watching.js";

// As the server does.
raiseHeapGrowth();
const job = await readJob<ChurnJob>();
const { url, user, password, name } = job.pool;
const inventory = createInventory();
const decoder = createParserPool();
const xapi = createXapi({ hosts: url, user, password, decoder });
let changes = 0;
let bytes = 0;
inventory.addPool(name, xapi);
await Promise.all([xapi.connect(), untilWatching(inventory, name)]);
inventory.subscribe((batch) => (changes += batch.count));
const catalog = job.hasViews ? await keepViews() : undefined;
await setTimeout(job.quietMs);
const figures = await watch();
const shares = await profileShares(
  {
    digest: /\/catalog\/digest\.js$/,
    patch: /\/(patch-writer|merge-patch)\.js$/,
  },
  () => setTimeout(job.durationMs),
);
reportFigures({
  ...figures,
  digestPercent: shares["digest"]! * 100,
  patchPercent: shares["patch"]! * 100,
  bothPercent: (shares["digest"]! + shares["patch"]!) * 100,
});

/** Each reader of the feed gets all of it. */
async function keepViews() {
  const created = createServerCatalog(inventory);
  await followAll(created);
  for (let i = 0; i < job.readers; i++)
    created.feed.subscribe((frame) => {
      bytes += frame.encoded("bench", toFeedMessage).length;
    });
  return created;
}

async function watch(): Promise<Record<string, number>> {
  changes = bytes = 0;
  const before = process.cpuUsage();
  const start = performance.now();
  const built = catalog?.stats.built ?? 0;
  await setTimeout(job.durationMs);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(before);
  const readers = Math.max(1, job.readers);
  return {
    ms,
    cpuPercent: ((user + system) / 1000 / ms) * 100,
    changesPerSecond: (changes / ms) * 1000,
    viewsPerSecond: (((catalog?.stats.built ?? 0) - built) / ms) * 1000,
    bytesPerSecondAndReader: (bytes / ms / readers) * 1000,
  };
}
