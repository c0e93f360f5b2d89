import { indexPool, planStarts } from "@xo-server/placement";
import { readJob, reportFigures } from "../../measure/job.js";
import {
  collectGarbage,
  peakRssBytes,
  resetPeakRss,
} from "../../measure/memory.js";
import { mixedPool, type PoolMix } from "../problems.js";
import { timed } from "../timed.js";

// A full plan of a pool where nothing runs: first by a process that has just
// started, then twice more, when the code is compiled.
const model = mixedPool(await readJob<PoolMix>());
await collectGarbage();
resetPeakRss();
const base = process.memoryUsage().rss;
const first = timed(() => planStarts(indexPool(model)));
const peakBytes = peakRssBytes() - base;
const { plan } = first.value;
const again = [0, 1].map(() => timed(() => planStarts(indexPool(model))));
const vms = model.vms.length;
reportFigures({
  hosts: model.hosts.length,
  vms,
  ms: first.ms,
  cpuMs: first.cpuMs,
  warmMs: Math.min(...again.map(({ ms }) => ms)),
  peakBytes,
  bytesPerVm: peakBytes / vms,
  placed: plan.actions.length,
  unplaced: plan.unplaced.length,
});
