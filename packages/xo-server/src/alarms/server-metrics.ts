import { statfs } from "node:fs/promises";
import { totalmem } from "node:os";
import type { BackupFigure } from "../backups/report/backup-figures.js";
import type { RepositoryProblems } from "../backups/repositories/problem-counts.js";

/** Type of the server itself in statistics rules. */
export const SERVER_TYPE = "server";

/**
 * `disk.usage`: used share of the file system of `dataDir`; `memory.usage`: used
 * share of the memory that the process may use; `certificate.days`: until the TLS
 * certificate of the web server ends; `updates.hosts`: hosts with missing updates, by the last
 * check; `versions.pools`: pools whose hosts run different versions; `backup.failed`: backup jobs
 * whose last run failed; `backup.mismatches`: VMs of last runs whose changed block tracking was
 * wrong; `backup.unprotected`: VMs that no scheduled job backs up; `backup.days`: age of the oldest
 * last backup; `backup.damaged`: backup repositories with damage that could not be repaired;
 * `backup.unreachable`: those that could not be used; `servers.lost`: other servers
 * of the database without a heartbeat.
 */
export const serverMetrics = [
  "disk.usage",
  "memory.usage",
  "certificate.days",
  "updates.hosts",
  "versions.pools",
  "backup.failed",
  "backup.mismatches",
  "backup.unprotected",
  "backup.days",
  "backup.damaged",
  "backup.unreachable",
  "servers.lost",
] as const;
export type ServerMetric = (typeof serverMetrics)[number];

/** Metrics of which each server of a database has its own value. */
const OWN_METRICS: ReadonlySet<string> = new Set<ServerMetric>([
  "disk.usage",
  "memory.usage",
  "certificate.days",
]);

/** Whether each server of a database has its own value of the metric. */
export function isOwnMetric(metric: string): boolean {
  return OWN_METRICS.has(metric);
}

/** Whether the metric is one of the server itself, not of an object. */
export function isServerMetric(metric: string): metric is ServerMetric {
  return (serverMetrics as readonly string[]).includes(metric);
}

/** @returns NaN: there is no such value. Never rejects */
export type ReadServerMetric = (
  metric: ServerMetric,
) => Promise<number | ExplainedValue>;

/** A value, and the names that explain it in the alarm. */
export interface ExplainedValue {
  readonly value: number;
  readonly text?: string;
}

/** Undefined: backups have not been started. */
export type ReadBackupFigure = (
  figure: BackupFigure,
) => Promise<ExplainedValue | undefined>;

/** Numbers of hosts and pools. */
export interface UpdateCounts {
  hostsWithPatches(): number;
  poolsWithDifferentVersions(): Promise<number>;
}

const DAY_MS = 86_400_000;

/** @param sources `certificateEndsAt`: ms since the epoch; undefined: no TLS */
export function createServerMetrics(sources: {
  readonly dataDir: string;
  readonly certificateEndsAt: () => number | undefined;
  readonly updates: UpdateCounts;
  readonly readBackupFigure: ReadBackupFigure;
  readonly repositories: RepositoryProblems;
  /** Returns the names of other servers without a heartbeat. */
  readonly findLostServers: () => Promise<readonly string[]>;
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
      case "backup.failed":
      case "backup.mismatches":
      case "backup.unprotected":
      case "backup.days":
        return readBackups(sources.readBackupFigure, metric);
      case "backup.damaged":
        return sources.repositories.damagedRepositories();
      case "backup.unreachable":
        return sources.repositories.failedRepositories();
      case "servers.lost":
        return readLostServers(sources.findLostServers);
    }
  };
}

async function readBackups(
  read: ReadBackupFigure,
  metric: `backup.${BackupFigure}`,
): Promise<ExplainedValue> {
  try {
    const figure = metric.slice("backup.".length) as BackupFigure;
    return (await read(figure)) ?? { value: NaN };
  } catch {
    // The unavailable database is reported elsewhere.
    return { value: NaN };
  }
}

async function readLostServers(
  find: () => Promise<readonly string[]>,
): Promise<ExplainedValue> {
  try {
    const names = await find();
    return { value: names.length, text: names.join(", ") };
  } catch {
    // The unavailable database is reported elsewhere.
    return { value: NaN };
  }
}

async function readDiskUsage(directory: string): Promise<number> {
  try {
    const { blocks, bavail, bfree } = await statfs(directory);
    const used = blocks - bfree;
    // As `df` does: blocks reserved for root are neither used nor available.
    return used / (used + bavail);
  } catch {
    // The folder is unavailable. NaN meets no condition.
    return NaN;
  }
}

/** Used share of the memory limit of the control group, or of the machine if there is none. */
function memoryUsage(): number {
  const limit = process.constrainedMemory();
  const total = limit > 0 && limit < totalmem() ? limit : totalmem();
  return 1 - Math.min(process.availableMemory(), total) / total;
}
