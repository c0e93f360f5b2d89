import { performance } from "node:perf_hooks";
import { startLoopProbe } from "./loop-probe.js";
import { collectGarbage, peakRssBytes, resetPeakRss } from "./memory.js";

/** What a load has left behind. */
export interface Loaded {
  readonly objects: number;
  /** Bytes of the response bodies, 0 where the loader does not report them. */
  readonly bytes: number;
  /** More figures of its own. */
  readonly more?: Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** Figures of one load; all times in ms, all sizes in bytes. */
interface LoadFigures {
  readonly ms: number;
  readonly longestBlockMs: number;
  readonly blocksOver50Ms: number;
  /** As longestBlockMs, less the time that the thread waited for a core. */
  readonly longestOwnBlockMs: number;
  /** Of the whole process, worker threads included. */
  readonly cpuMs: number;
  /** Highest resident size of the process. */
  readonly peakRssBytes: number;
  /** Resident size before the load began. */
  readonly baselineRssBytes: number;
  /** Resident size when everything is loaded and garbage is collected. */
  readonly settledRssBytes: number;
  /** Growth of the resident size: V8 does not count shared memory, where records are. */
  readonly retainedBytes: number;
  readonly retainedBytesPerObject: number;
  /** The part of it that the collector walks. */
  readonly retainedHeapBytesPerObject: number;
  readonly objects: number;
  readonly bytes: number;
}

/**
 * Measures `load` in this process, which must have done nothing else before.
 * @param prepare what a running server has done already when a pool is added: its time does not count, its memory does
 */
export async function measureLoad<Prepared = void>(
  load: (prepared: Prepared) => Promise<Loaded>,
  prepare: () => Promise<Prepared>,
): Promise<LoadFigures> {
  await collectGarbage();
  const baselineRssBytes = process.memoryUsage().rss;
  const heapBefore = process.memoryUsage().heapUsed;
  resetPeakRss();
  const prepared = await prepare();
  const probe = startLoopProbe();
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const loaded = await load(prepared);
  const ms = performance.now() - start;
  const cpu = process.cpuUsage(cpuBefore);
  const blocks = await probe.stop();
  const peak = peakRssBytes();
  await collectGarbage();
  const retainedHeapBytes = process.memoryUsage().heapUsed - heapBefore;
  const settledRssBytes = process.memoryUsage().rss;
  const retainedBytes = settledRssBytes - baselineRssBytes;
  await loaded.close();
  return {
    ms,
    ...blocks,
    cpuMs: (cpu.user + cpu.system) / 1000,
    peakRssBytes: peak,
    baselineRssBytes,
    settledRssBytes,
    retainedBytes,
    retainedBytesPerObject:
      loaded.objects === 0 ? 0 : retainedBytes / loaded.objects,
    retainedHeapBytesPerObject:
      loaded.objects === 0 ? 0 : retainedHeapBytes / loaded.objects,
    objects: loaded.objects,
    bytes: loaded.bytes,
    ...loaded.more,
  };
}
