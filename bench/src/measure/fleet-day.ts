import { createInventory } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { createParserPool } from "@xo-server/parser-pool";
import { createDerivedPools } from "@xo-server/xapi-sim";
import type { FleetDayJob } from "./fleet-job.js";
import { readJob, reportFigures } from "./job.js";
import { collectGarbage } from "./memory.js";
import { seededRandom } from "./seeded-random.js";
import { ChangeGenerator, Hours } from "./simulated-day.js";
import { DerivedSource } from "./derived-source.js";
import { untilWatching } from "./until-watching.js";

const HOUR_MS = 3600_000;
/** The first hours fill caches and rings and leave holes that later ones use: growth is judged behind them. */
const WARM_SHARE = 1 / 4;

interface Sample {
  readonly hour: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly segmentBytes: number;
  readonly tableBytes: number;
}

raiseHeapGrowth();
const job = await readJob<FleetDayJob>();
const random = seededRandom(1);
const hours = new Hours(random);
let simulatedMs = Date.UTC(2026, 10, 1);
const inventory = createInventory({
  clock: {
    now: () => simulatedMs,
    setTimeout: (callback, ms) => setTimeout(callback, ms),
    clearTimeout: (handle) => {
      clearTimeout(handle as NodeJS.Timeout);
    },
  },
});
const parts = {
  decoder: createParserPool({ place: "main" }),
  hours,
  changes: new ChangeGenerator(random),
};
const pools = createDerivedPools({ pools: job.pools, vms: job.vms });
for (const [i, pool] of pools.entries())
  inventory.addPool(`p${i}`, new DerivedSource(pool, parts));
await Promise.all(pools.map((_, i) => untilWatching(inventory, `p${i}`)));
const samples = await passDay();
hours.end();
const objects = inventory.objects;
await inventory.stop();
reportFigures({ objects, ...figuresOf(samples) });

async function passDay(): Promise<Sample[]> {
  const taken = [await sample(0)];
  for (let hour = 1; hour <= job.hours; hour++) {
    await hours.pass(job.changesPerSecond * 3600);
    simulatedMs += HOUR_MS;
    taken.push(await sample(hour));
    process.stderr.write(`hour ${hour}: ${JSON.stringify(taken.at(-1))}\n`);
  }
  return taken;
}

async function sample(hour: number): Promise<Sample> {
  await collectGarbage();
  const { rss, heapUsed, external } = process.memoryUsage();
  const { segmentBytes, tableBytes } = inventory.stats;
  return {
    hour,
    rssBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    segmentBytes,
    tableBytes,
  };
}

function figuresOf(all: readonly Sample[]): Record<string, number> {
  const settled = all.filter(({ hour }) => hour >= job.hours * WARM_SHARE);
  const growth = (name: keyof Sample): number => slope(settled, name);
  const last = all.at(-1)!;
  return {
    hours: job.hours,
    changes: job.hours * 3600 * job.changesPerSecond,
    firstRssBytes: all[0]!.rssBytes,
    rssBytes: last.rssBytes,
    mostRssBytes: Math.max(...all.map(({ rssBytes }) => rssBytes)),
    heapBytes: last.heapBytes,
    segmentBytes: last.segmentBytes,
    tableBytes: last.tableBytes,
    rssBytesPerHour: growth("rssBytes"),
    heapBytesPerHour: growth("heapBytes"),
    externalBytesPerHour: growth("externalBytes"),
    segmentBytesPerHour: growth("segmentBytes"),
    tableBytesPerHour: growth("tableBytes"),
    ms: performance.now(),
  };
}

/** Slope of the least-squares line: growth per hour. */
function slope(all: readonly Sample[], name: keyof Sample): number {
  const mean = (value: (one: Sample) => number): number =>
    all.reduce((sum, one) => sum + value(one), 0) / all.length;
  const hour = mean((one) => one.hour);
  const level = mean((one) => one[name]);
  const above = mean((one) => (one.hour - hour) * (one[name] - level));
  const spread = mean((one) => (one.hour - hour) ** 2);
  return spread === 0 ? 0 : above / spread;
}
