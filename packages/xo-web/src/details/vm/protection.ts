import type { JsonObject } from "@xo-server/kit";
import { selectionOf } from "../../backup/job.js";

/** A job that takes snapshots or backups of VMs, as `job.getAll` returns it. */
export interface ProtectionJob {
  readonly id: string;
  readonly name: string;
  readonly isBackup: boolean;
  /** Backup jobs without a selection include all VMs. */
  readonly isOfAll: boolean;
  readonly vms: readonly string[];
  readonly filter: string | undefined;
  readonly excludedTags: readonly string[];
  /** Its enabled schedules. */
  readonly schedules: readonly ProtectionSchedule[];
}

export interface ProtectionSchedule {
  readonly cron: string;
  readonly timezone: string | undefined;
}

/** The default of the server. */
const EXCLUDED = ["xo:no-bak"];

/** Jobs that take snapshots or backups of VMs, with their schedules. */
export function toProtectionJobs(
  jobs: readonly JsonObject[],
  schedules: readonly JsonObject[],
): ProtectionJob[] {
  return jobs
    .filter(({ type }) => type === "snapshot" || type === "backup")
    .map((job) => ({
      isBackup: job["type"] === "backup",
      isOfAll: job["type"] === "backup" && selectionOf(job) === "all",
      id: textOf(job["id"]),
      name: textOf(job["name"]),
      vms: textsOf(job["vms"]) ?? [],
      filter: typeof job["filter"] === "string" ? job["filter"] : undefined,
      excludedTags: textsOf(job["excludedTags"]) ?? EXCLUDED,
      schedules: schedules
        .filter(({ jobId, enabled }) => jobId === job["id"] && enabled === true)
        .map(({ cron, timezone }) => ({
          cron: textOf(cron),
          timezone: typeof timezone === "string" ? timezone : undefined,
        })),
    }));
}

/** Whether the job includes a VM: listed, or by a filter that the server evaluates (`filter`). */
export function coverOf(
  { vms, filter, excludedTags, isOfAll }: ProtectionJob,
  { id, tags = [] }: { id: string; tags?: readonly string[] | undefined },
): "yes" | "no" | "filter" {
  if (excludedTags.some((tag) => tags.includes(tag))) return "no";
  if (isOfAll || vms.includes(id)) return "yes";
  return filter === undefined ? "no" : "filter";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((one): one is string => typeof one === "string");
}
