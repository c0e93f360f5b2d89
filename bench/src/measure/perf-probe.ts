import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setImmediate, setTimeout } from "node:timers/promises";
import { createLoopMonitor } from "@xo-server/perf";
import { readJob, reportFigures } from "./job.js";
import type { PerfProbeJob } from "./perf-probe-job.js";

const job = await readJob<PerfProbeJob>();
const stop = startDetector(job.detector);
const awaitsMs = await time(() => awaitMany(job.awaits));
const turnsMs = await time(() => turnMany(job.turns));
const cpuBefore = process.cpuUsage();
await setTimeout(job.idleMs);
const cpu = process.cpuUsage(cpuBefore);
stop();
reportFigures({
  ms: awaitsMs + turnsMs,
  nsPerAwait: (awaitsMs * 1e6) / job.awaits,
  nsPerTurn: (turnsMs * 1e6) / job.turns,
  idleCpuMsPerSecond: (cpu.user + cpu.system) / job.idleMs,
});

function startDetector(detector: PerfProbeJob["detector"]): () => void {
  switch (detector) {
    case "none":
      return () => undefined;
    case "xo:perf":
      return startMonitor({});
    case "xo:perf 1 ms":
      return startMonitor({ probeMs: 1 });
    case "blocked-at":
      return startMonitor({ traceBlocks: true });
    case "monitorEventLoopDelay": {
      const histogram = monitorEventLoopDelay();
      histogram.enable();
      return () => histogram.disable();
    }
  }
}

function startMonitor(options: {
  probeMs?: number;
  traceBlocks?: boolean;
}): () => void {
  const monitor = createLoopMonitor(options);
  monitor.start();
  return () => {
    monitor.stop();
  };
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function awaitMany(count: number): Promise<void> {
  // A turn now and then: a program that only awaits would starve every timer.
  for (let i = 0; i < count; i++)
    await (i % 1000 === 0 ? setImmediate() : Promise.resolve(i));
}

async function turnMany(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}
