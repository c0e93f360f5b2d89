import { performance } from "node:perf_hooks";
import { startLoopProbe } from "./loop-probe.js";

/** What a piece of work took, all in ms. */
export interface WorkFigures {
  readonly ms: number;
  /** Of the whole process, worker threads included. */
  readonly cpuMs: number;
  readonly longestBlockMs: number;
  /** Less the time that the thread waited for a core. */
  readonly longestOwnBlockMs: number;
}

/** Wall-clock and CPU time of some work of this process, and the longest block of its event loop, in ms. */
export async function measureWork(
  work: () => Promise<unknown>,
): Promise<WorkFigures> {
  const probe = startLoopProbe();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { longestBlockMs, longestOwnBlockMs } = await probe.stop();
  return {
    ms,
    cpuMs: (user + system) / 1000,
    longestBlockMs,
    longestOwnBlockMs,
  };
}
