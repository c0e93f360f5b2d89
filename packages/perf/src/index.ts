export { HeapGrowth, raiseHeapGrowth } from "./heap-growth.js";
export {
  createHistogram,
  type Histogram,
  type HistogramSnapshot,
} from "./histogram.js";
export {
  createLoopMonitor,
  type Block,
  type LoopMonitor,
  type LoopMonitorOptions,
  type LoopSnapshot,
  type LoopTimes,
} from "./loop-monitor.js";
export { readMemoryUsage } from "./memory-usage.js";
export type { BlockTrace, BlockedAt } from "./block-tracer.js";
