import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";

/** Type of the server itself in statistics rules. */
export const SERVER_TYPE = "server";

/**
 * `disk.usage`: used share of the file system of `dataDir`; `memory.usage`: used
 * share of the memory that the process may use; `certificate.days`: until the TLS
 * certificate of the web server ends; `updates.hosts`: hosts with missing updates, by the last
 * check; `versions.pools`: pools whose hosts run different versions.
 */
export const serverMetrics = [
  "disk.usage",
  "memory.usage",
  "certificate.days",
  "updates.hosts",
  "versions.pools",
] as const;
export type ServerMetric = (typeof serverMetrics)[number];

export function isServerMetric(metric: string): metric is ServerMetric {
  return (serverMetrics as readonly string[]).includes(metric);
}

/** @returns NaN: there is no such value. Never rejects */
export type ReadServerMetric = (metric: ServerMetric) => Promise<number>;

/** Numbers of hosts and pools. */
export interface UpdateCounts {
  hostsWithPatches(): number;
  poolsWithDifferentVersions(): number;
}

const DAY_MS = 86_400_000;

/** @param sources `certificateEndsAt`: ms since the epoch; undefined: no TLS */
export function createServerMetrics(sources: {
  readonly dataDir: string;
  readonly certificateEndsAt: () => number | undefined;
  readonly updates: UpdateCounts;
  readonly clock: { now(): number };
}): ReadServerMetric {
  return async (metric) => {
    switch (metric) {
      case "disk.usage":
        return readDiskUsage(sources.dataDir);
      case "memory.usage":
        return memoryUsage();
      case "certificate.days": {
        const end = sources.certificateEndsAt() ?? NaN;
        return (end - sources.clock.now()) / DAY_MS;
      }
      case "updates.hosts":
        return sources.updates.hostsWithPatches();
      case "versions.pools":
        return sources.updates.poolsWithDifferentVersions();
    }
  };
}

async function readDiskUsage(directory: string): Promise<number> {
  try {
    const { blocks, bavail, bfree } = await statfs(directory);
    const used = blocks - bfree;
    // As df: blocks that only root may use are neither used nor available.
    return used / (used + bavail);
  } catch {
    return NaN;
  }
}

/** Of the control group if it has a limit, otherwise of the machine. */
function memoryUsage(): number {
  const limit = process.constrainedMemory();
  const total = limit > 0 && limit < totalmem() ? limit : totalmem();
  return 1 - Math.min(process.availableMemory(), total) / total;
}
