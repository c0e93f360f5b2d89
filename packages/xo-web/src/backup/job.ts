import type { Json } from "@xo-server/kit";

export const retentionRules = [
  "keepLast",
  "keepDaily",
  "keepWeekly",
  "keepMonthly",
  "keepYearly",
] as const;
export type RetentionRule = (typeof retentionRules)[number];
export type RetentionCounts = Readonly<Partial<Record<RetentionRule, number>>>;

/** Types of jobs that back up: VMs; databases of pools and the configuration; copies in other repositories. */
export const backupJobTypes = [
  "backup",
  "metadataBackup",
  "mirrorBackup",
] as const;
export type BackupJobType = (typeof backupJobTypes)[number];

/** A backup job as `job.getAll` returns it. Times in ms, rates in bytes per second. */
export interface BackupJob {
  readonly id: string;
  readonly name: string;
  readonly type: BackupJobType;
  /** Ids, of a job of the type `metadataBackup`. */
  readonly pools?: readonly string[];
  /** Of a job of the type `metadataBackup`: whether the configuration is backed up. */
  readonly server?: boolean;
  /** Id of the repository, of a job of the type `mirrorBackup`. */
  readonly source?: string;
  readonly userId?: string;
  readonly vms?: readonly string[];
  readonly filter?: string;
  /** Of a job of a client of Xen Orchestra, in the place of a filter. */
  readonly pattern?: Json;
  readonly excludedTags?: readonly string[];
  readonly repositories: readonly string[];
  readonly retention: RetentionCounts;
  readonly mode?: "incremental" | "full";
  readonly snapshot?: SnapshotMode;
  readonly fullInterval?: number;
  readonly concurrency?: number;
  readonly retries?: number;
  readonly maxRate?: number;
  readonly window?: { readonly from: string; readonly to: string };
  readonly preferNbd?: boolean;
  readonly preferCbt?: boolean;
  readonly purgeSnapshotData?: boolean;
  readonly ignoreLongChains?: boolean;
  readonly concurrencyPerHost?: number;
  readonly concurrencyPerSr?: number;
  readonly report?: JobReport;
}

/** Who gets a report of each run. */
export interface JobReport {
  readonly when: "always" | "failure" | "never";
  readonly addresses?: readonly string[];
  readonly webHooks?: readonly string[];
}

/** A job that tests backups, as `job.getAll` returns it. Times in ms. */
export interface RestoreTestJob extends Pick<
  BackupJob,
  "id" | "name" | "vms" | "filter" | "excludedTags" | "concurrency" | "report"
> {
  readonly type: "restore-test";
  /** Ids of repositories; absent: all. */
  readonly repositories?: readonly string[];
  readonly sr: string;
  readonly network?: "closed" | "none";
  readonly maxVms?: number;
  readonly bootTimeout?: number;
}

export type SnapshotMode = "normal" | "memory" | "offline";

/** Tag of VMs that no job backs up, unless it names other tags. */
export const DEFAULT_EXCLUDED_TAG = "xo:no-bak";

/** Which VMs a job backs up. */
export type VmSelection = "all" | "filter" | "vms" | "pattern";

/** How a job selects its VMs; pattern and filter take precedence over ids, as on the server. */
export function selectionOf({
  vms = [],
  filter,
  pattern,
}: Pick<BackupJob, "vms" | "filter" | "pattern">): VmSelection {
  if (pattern !== undefined) return "pattern";
  if (filter !== undefined && filter.trim() !== "") return "filter";
  return vms.length > 0 ? "vms" : "all";
}
