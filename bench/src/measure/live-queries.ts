import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import type { LiveRequest, LiveUpdate } from "@xo-server/inventory";
import { raiseHeapGrowth } from "@xo-server/perf";
import { median, percentile } from "../harness/figures.js";
import { GuestEdits } from "./guest-edits.js";
import { openGuestFleet } from "./guest-fleet.js";
import { readJob, reportFigures } from "./job.js";
import type { LiveQueriesJob } from "./live-queries-job.js";
import { measureWork } from "./stopwatch.js";

/** Longer than the window of the feed: each round is a message of its own. */
const ROUND_MS = 100;
const WINDOW = 50;

// As the server does.
raiseHeapGrowth();
const job = await readJob<LiveQueriesJob>();
const { catalog, queries, pools } = await openGuestFleet(job.size, {
  // The default bound is what a server needs; here each reader may have its own query.
  maxResults: job.readers + 1,
});
await catalog.follow("VM");
let updates = 0;
let bytes = 0;
let changedAt = 0;
let latencies: number[] = [];
const opened = await measureWork(openReaders);
const edits = new GuestEdits(pools[0]!);
// The first rounds are warm-up.
await change(Math.ceil(job.rounds / 4));
updates = bytes = 0;
latencies = [];
const { built } = catalog.stats;
const { ms, cpuMs, ...blocks } = await measureWork(() => change(job.rounds));
const changes = job.rounds * job.changesPerRound;
reportFigures({
  ms,
  cpuMs,
  ...blocks,
  cpuMsPerChange: cpuMs / changes,
  changes,
  built: catalog.stats.built - built,
  updates,
  bytesPerUpdate: updates === 0 ? 0 : bytes / updates,
  results: queries.stats.results,
  openMs: opened.ms,
  openLongestBlockMs: opened.longestBlockMs,
  ...(latencies.length === 0
    ? {}
    : {
        latencyMs: median(latencies),
        latencyP99Ms: percentile(latencies, 0.99),
      }),
});

async function openReaders(): Promise<void> {
  for (let i = 0; i < job.readers; i++)
    await queries.live(request(job.isDistinct ? i : 0), note);
}

/** Windows are spread over all that runs. */
function request(reader: number): LiveRequest {
  return {
    type: "VM",
    filter: `power_state:running !name_label:"nobody ${reader}"`,
    sort: [{ by: "name_label" }],
    offset: (reader * WINDOW) % (job.size.pools * job.size.vms * 0.5),
    limit: WINDOW,
  };
}

function note(update: LiveUpdate): void {
  updates++;
  for (const json of update.objects.values()) bytes += json.length;
  for (const patch of update.patches.values()) bytes += patch.length;
  latencies.push(performance.now() - changedAt);
}

async function change(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    changedAt = performance.now();
    await pools[0]!.change(edits.next(job.changesPerRound));
    await setTimeout(ROUND_MS);
  }
}
