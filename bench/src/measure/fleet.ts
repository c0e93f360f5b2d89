import { performance } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createInventory, type Inventory } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool, type ParserPool } from "@xo-server/parser-pool";
import { createXapi, type Xapi } from "@xo-server/xen-api";
import type { PoolAddress } from "../harness/simulator.js";
import { processCpuMs } from "../harness/process-cpu.js";
import { blockFigures, watchBlocks } from "./block-histogram.js";
import { ChangeLatency } from "./change-latency.js";
import type { FleetJob } from "./fleet-job.js";
import { FleetViews } from "./fleet-views.js";
import { readJob, reportFigures } from "./job.js";
import { collectGarbage, peakRssBytes, resetPeakRss } from "./memory.js";
import { setChurn } from "./set-churn.js";
import { untilWatching } from "./until-watching.js";

/**
 * Until the first responses, with the changes during the load, are processed, and churn has
 * started.
 */
const CALM_MS = 3000;

type Figures = Record<string, number>;

interface Server {
  readonly decoder: ParserPool;
  readonly inventory: Inventory;
  readonly xapis: Xapi[];
}

// As the server does.
raiseHeapGrowth();
const job = await readJob<FleetJob>();
const server: Server = {
  decoder: createParserPool(),
  inventory: createInventory(),
  xapis: [],
};
const views = job.hasViews ? new FleetViews(server.inventory) : undefined;
while (!server.decoder.stats().isUp) await setTimeout(1);
reportFigures({
  ...(await load()),
  ...(views === undefined ? {} : await follow(views)),
  ...(job.restMs === 0 ? {} : await rest()),
  ...(job.churnMs === 0 ? {} : await churn()),
});

async function load(): Promise<Figures> {
  await collectGarbage();
  const rssBefore = process.memoryUsage().rss;
  resetPeakRss();
  const blocks = watchBlocks();
  const work = startWork();
  const adding: Promise<number>[] = [];
  for (const pool of job.pools) {
    adding.push(addPool(pool));
    // One per turn of the event loop: creating a hundred in one would block for
    // 40 ms.
    await setImmediate();
  }
  const firstMs = await Promise.all(adding);
  const { ms, cpuMs } = work.stop();
  const watched = blockFigures("load", await blocks.stop());
  const peak = peakRssBytes();
  await setTimeout(CALM_MS);
  await collectGarbage();
  const { stats } = server.inventory;
  return {
    ms,
    loadCpuMs: cpuMs,
    firstPoolMs: Math.min(...firstMs),
    objects: stats.objects,
    jsonBytes: sumOf(({ counters }) => counters.bytesReceived),
    loadPeakRssBytes: peak,
    rssBytes: process.memoryUsage().rss,
    retainedBytes: process.memoryUsage().rss - rssBefore,
    heapBytes: process.memoryUsage().heapUsed,
    segmentBytes: stats.segmentBytes,
    liveBytes: stats.liveBytes,
    tableBytes: stats.tableBytes,
    ...watched,
  };
}

/** As the server does it: the client and its mirror start in the same moment. Answers when it is watched. */
async function addPool({ name, url, user, password }: PoolAddress) {
  const { decoder, inventory, xapis } = server;
  const xapi = createXapi({ hosts: url, user, password, decoder });
  xapis.push(xapi);
  inventory.addPool(name, xapi);
  const start = performance.now();
  await Promise.all([xapi.connect(), untilWatching(inventory, name)]);
  return performance.now() - start;
}

/** Subscribes as the first page does when the fleet is already loaded. */
async function follow(views: FleetViews): Promise<Figures> {
  const rssBefore = process.memoryUsage().rss;
  const blocks = watchBlocks();
  const work = startWork();
  await views.follow();
  const { ms, cpuMs } = work.stop();
  const watched = blockFigures("views", await blocks.stop());
  const queries = await openLiveQueries(views);
  await collectGarbage();
  const { stats } = views.catalog;
  return {
    viewsMs: ms,
    viewsCpuMs: cpuMs,
    viewObjects: stats.objects,
    viewTableBytes: stats.tableBytes,
    viewCacheBytes: stats.cache.bytes,
    viewsRetainedBytes: process.memoryUsage().rss - rssBefore,
    viewsRssBytes: process.memoryUsage().rss,
    ...watched,
    ...queries,
  };
}

async function openLiveQueries(views: FleetViews): Promise<Figures> {
  const blocks = watchBlocks();
  const times = await views.openLiveQueries();
  const watched = blockFigures("query", await blocks.stop());
  return {
    firstQueryMs: times[0]!,
    slowestQueryMs: Math.max(...times),
    ...watched,
  };
}

async function rest(): Promise<Figures> {
  const work = startWork();
  await setTimeout(job.restMs);
  return { restCpuPercent: work.stop().cpuPercent };
}

async function churn(): Promise<Figures> {
  const { changesPerSecond, churnMs } = job;
  const latency = new ChangeLatency(server.inventory);
  await setChurn(job.pools, changesPerSecond);
  await setTimeout(CALM_MS);
  const bytesBefore = sumOf(({ counters }) => counters.bytesReceived);
  const simulatorBefore = processCpuMs(job.simulatorPid);
  // The probe of blocks wakes the loop a thousand times a second: it has a time of its own.
  const work = startWork();
  latency.restart();
  views?.restart();
  await setTimeout(churnMs);
  const { ms, cpuPercent } = work.stop();
  const figures = {
    churnCpuPercent: cpuPercent,
    simulatorCpuPercent:
      ((processCpuMs(job.simulatorPid) - simulatorBefore) / ms) * 100,
    wireBytesPerSecond:
      ((sumOf(({ counters }) => counters.bytesReceived) - bytesBefore) / ms) *
      1000,
    ...latency.figures(ms / 1000),
    ...views?.figures(ms / 1000),
  };
  const blocks = watchBlocks();
  await setTimeout(churnMs);
  const watched = blockFigures("churn", await blocks.stop());
  await setChurn(job.pools, 0);
  await setTimeout(CALM_MS);
  await collectGarbage();
  return {
    ...figures,
    ...watched,
    peakRssBytes: peakRssBytes(),
    rssAfterBytes: process.memoryUsage().rss,
  };
}

function sumOf(figure: (xapi: Xapi) => number): number {
  return server.xapis.reduce((sum, xapi) => sum + figure(xapi), 0);
}

function startWork() {
  const start = performance.now();
  const before = process.cpuUsage();
  return {
    stop() {
      const ms = performance.now() - start;
      const { user, system } = process.cpuUsage(before);
      const cpuMs = (user + system) / 1000;
      return { ms, cpuMs, cpuPercent: (cpuMs / ms) * 100 };
    },
  };
}
