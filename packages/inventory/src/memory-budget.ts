import { totalmem } from "node:os";
import { constrainedMemory } from "node:process";
import { getHeapStatistics } from "node:v8";
import { CHANGE_BYTES } from "./feed/change-ring.js";

/** What there is, in bytes. */
export interface MachineMemory {
  /** Of the machine. */
  readonly totalBytes: number;
  /** What the control group allows; 0, or more than there is: no limit. */
  readonly constrainedBytes: number;
  /** Where V8 gives up. */
  readonly heapLimitBytes: number;
}

/** Bounds of all that is kept for speed alone. Records, tables and views' rows are not caches and have none. */
export interface MemoryBudget {
  /** On the heap, by estimate: records that were read lately. */
  readonly recordCacheBytes: number;
  /** Off the heap: encoded objects of the catalog. */
  readonly viewCacheBytes: number;
  /** Off the heap: frames of the view feed. */
  readonly feedBytes: number;
  /** On the heap, by estimate: columns of queries. */
  readonly columnBytes: number;
  /** Changes that the inventory's feed remembers; 74 bytes each, off the heap. */
  readonly ringSize: number;
}

const MIB = 1024 * 1024;

/** A part of what there is, within bounds. */
interface Share {
  readonly part: number;
  readonly floor: number;
  readonly ceiling: number;
}

/**
 * Why so much. Floors: below them the cache costs more than it saves. Ceilings:
 * above them nothing is won, see each. All caches together get at most a fifth
 * of the heap and a sixth of the memory: the rest is for the records themselves.
 */
const shares = {
  // The collector walks every record; 256 MiB hold 200,000 of 1.1 kB.
  recordCache: { part: 1 / 16, floor: 16 * MIB, ceiling: 256 * MIB },
  // Some 1.5 kB each: the views of 600,000 objects.
  viewCache: { part: 1 / 8, floor: 32 * MIB, ceiling: 1024 * MIB },
  // 5,000 changes a second of 200 bytes for two minutes: who was away for longer reads all anew.
  feed: { part: 1 / 64, floor: 8 * MIB, ceiling: 128 * MIB },
  // 1,000,000 rows, ten columns, three of them with a value of its own for each row.
  column: { part: 1 / 8, floor: 32 * MIB, ceiling: 512 * MIB },
  // 70,000 changes: 14 seconds at 5,000 a second. Its readers are within the process and hear of changes as they come.
  ring: { part: 1 / 1024, floor: 1 * MIB, ceiling: 5 * MIB },
} satisfies Record<string, Share>;

/** The bounds that fit a machine. */
export function memoryBudget({
  totalBytes,
  constrainedBytes,
  heapLimitBytes,
}: MachineMemory): MemoryBudget {
  const isConstrained = constrainedBytes > 0 && constrainedBytes < totalBytes;
  const memory = isConstrained ? constrainedBytes : totalBytes;
  // V8's limit may be set above what the group allows.
  const heap = Math.min(heapLimitBytes, memory);
  return {
    recordCacheBytes: take(shares.recordCache, heap),
    viewCacheBytes: take(shares.viewCache, memory),
    feedBytes: take(shares.feed, memory),
    columnBytes: take(shares.column, heap),
    ringSize: Math.floor(take(shares.ring, memory) / CHANGE_BYTES),
  };
}

/** What this process has. */
export function machineMemory(): MachineMemory {
  return {
    totalBytes: totalmem(),
    constrainedBytes: constrainedMemory(),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
  };
}

function take({ part, floor, ceiling }: Share, of: number): number {
  return Math.floor(Math.min(ceiling, Math.max(floor, of * part)));
}
