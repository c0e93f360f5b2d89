import { totalmem } from "node:os";
import { constrainedMemory } from "node:process";
import { getHeapStatistics } from "node:v8";
import { CHANGE_BYTES } from "../feed/change-ring.js";

/** Memory available to the process, in bytes. */
export interface MachineMemory {
  /** RAM of the machine. */
  readonly totalBytes: number;
  /** Limit of the control group; 0 or more than the RAM: no limit. */
  readonly constrainedBytes: number;
  /** Heap limit of V8 (heap_size_limit). */
  readonly heapLimitBytes: number;
}

/**
 * Limits of all caches, and of responses of pools. Records, tables and the rows of
 * views are not caches and have no limit.
 */
export interface MemoryBudget {
  /** Bytes on the heap (estimated): parsed records. */
  readonly recordCacheBytes: number;
  /** Bytes outside the heap: encoded objects of the catalog. */
  readonly viewCacheBytes: number;
  /** Bytes outside the heap: frames of the view feed. */
  readonly feedBytes: number;
  /** Bytes on the heap (estimated): columns of queries. */
  readonly columnBytes: number;
  /**
   * Number of changes that the inventory's feed stores; 74 bytes each, outside
   * the heap.
   */
  readonly ringSize: number;
}

/** Bounds of the responses of pools: a hostile pool must not use up the memory. */
interface AnswerBudget {
  /** Maximum size of one response that lists objects or events, in bytes. */
  readonly listingBytes: number;
  /** Maximum size of any other response, in bytes. */
  readonly valueBytes: number;
}

const MIB = 1024 * 1024;

/** A share of the memory, between two bounds in bytes. */
interface Share {
  readonly share: number;
  readonly floor: number;
  readonly ceiling: number;
}

/**
 * Below its floor a cache costs more than it saves; above its ceiling nothing
 * is gained (reasons below). All caches together get at most a fifth of the
 * heap and a sixth of the memory: the rest is for the records.
 */
const shares = {
  // The garbage collector traverses every record; 256 MiB hold 200,000 records
  // of 1.1 kB.
  recordCache: { share: 1 / 16, floor: 16 * MIB, ceiling: 256 * MIB },
  // About 1.5 kB per object: the views of 600,000 objects.
  viewCache: { share: 1 / 8, floor: 32 * MIB, ceiling: 1024 * MIB },
  // 5,000 changes per second of 200 bytes for two minutes; fewer changes for
  // five. A client that was disconnected for longer reads everything again.
  feed: { share: 1 / 64, floor: 8 * MIB, ceiling: 128 * MIB },
  // 1,000,000 rows, ten columns, three of them with distinct values in every
  // row.
  column: { share: 1 / 8, floor: 32 * MIB, ceiling: 512 * MIB },
  // VM records of the largest pools, 5,000 VMs: 30 MiB of JSON, three times as
  // much of XML.
  listing: { share: 1 / 16, floor: 128 * MIB, ceiling: 1024 * MIB },
  // The largest value is a listing that is read as one: some MiB.
  value: { share: 1 / 128, floor: 16 * MIB, ceiling: 128 * MIB },
  // 70,000 changes: 14 seconds at 5,000 per second. Its readers are in the same
  // process and are notified immediately.
  ring: { share: 1 / 1024, floor: 1 * MIB, ceiling: 5 * MIB },
} satisfies Record<string, Share>;

/** Cache bounds for a machine. */
export function memoryBudget({
  totalBytes,
  constrainedBytes,
  heapLimitBytes,
}: MachineMemory): MemoryBudget {
  const memory = availableBytes({ totalBytes, constrainedBytes });
  // V8's limit may be set above what the group allows.
  const heap = Math.min(heapLimitBytes, memory);
  return {
    recordCacheBytes: clamp(shares.recordCache, heap),
    viewCacheBytes: clamp(shares.viewCache, memory),
    feedBytes: clamp(shares.feed, memory),
    columnBytes: clamp(shares.column, heap),
    ringSize: Math.floor(clamp(shares.ring, memory) / CHANGE_BYTES),
  };
}

/** Response bounds for a machine. */
export function answerBudget(
  machine: Omit<MachineMemory, "heapLimitBytes">,
): AnswerBudget {
  const memory = availableBytes(machine);
  return {
    listingBytes: clamp(shares.listing, memory),
    valueBytes: clamp(shares.value, memory),
  };
}

/** The RAM, or the limit of the control group if that is less. */
export function availableBytes({
  totalBytes,
  constrainedBytes,
}: Omit<MachineMemory, "heapLimitBytes">): number {
  const isConstrained = constrainedBytes > 0 && constrainedBytes < totalBytes;
  return isConstrained ? constrainedBytes : totalBytes;
}

/** Memory of this machine, control group and process. */
export function machineMemory(): MachineMemory {
  return {
    totalBytes: totalmem(),
    constrainedBytes: constrainedMemory(),
    heapLimitBytes: getHeapStatistics().heap_size_limit,
  };
}

function clamp({ share, floor, ceiling }: Share, total: number): number {
  return Math.floor(Math.min(ceiling, Math.max(floor, total * share)));
}
