import type { JsonObject } from "@xo-server/kit";

/** A job that takes snapshots, as `job.getAll` returns it. */
export interface SnapshotJob {
  readonly id: string;
  readonly name: string;
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

/** Jobs that take snapshots, with their schedules. */
export function toSnapshotJobs(
  jobs: readonly JsonObject[],
  schedules: readonly JsonObject[],
): SnapshotJob[] {
  return jobs
    .filter(({ type }) => type === "snapshot")
    .map((job) => ({
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
  { vms, filter, excludedTags }: SnapshotJob,
  { id, tags = [] }: { id: string; tags?: readonly string[] | undefined },
): "yes" | "no" | "filter" {
  if (excludedTags.some((tag) => tags.includes(tag))) return "no";
  if (vms.includes(id)) return "yes";
  return filter === undefined ? "no" : "filter";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.filter((one): one is string => typeof one === "string");
}
