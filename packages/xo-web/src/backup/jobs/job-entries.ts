import {
  changedProperty,
  enteredNumber,
} from "../../forms/changed-property.js";
import type { Json } from "@xo-server/kit";
import {
  DEFAULT_EXCLUDED_TAG,
  retentionRules,
  selectionOf,
  type BackupJob,
  type RetentionCounts,
  type RetentionRule,
  type VmSelection,
  type SnapshotMode,
} from "../job.js";
import {
  reportInputErrorsOf,
  toReport,
  toReportEntries,
  type ReportEntries,
  type ReportInputError,
} from "./report-entries.js";

/** Which VMs a job is about, as typed. */
export interface VmEntries {
  selection: VmSelection;
  filter: string;
  vms: readonly string[];
  excludedTags: string;
}

/** Values of the form fields of a backup job, as typed. */
export interface BackupJobEntries extends VmEntries, ReportEntries {
  name: string;
  repositories: readonly string[];
  retention: Record<RetentionRule, string>;
  snapshot: SnapshotMode;
  isFull: boolean;
  fullInterval: string;
  concurrency: string;
  concurrencyPerHost: string;
  concurrencyPerSr: string;
  retries: string;
  /** MB per second. */
  maxRate: string;
  windowFrom: string;
  windowTo: string;
  preferNbd: boolean;
  preferCbt: boolean;
  purgeSnapshotData: boolean;
  ignoreLongChains: boolean;
}

export type BackupJobInputError =
  | "required"
  | "vms"
  | "filter"
  | "repositories"
  | "retention"
  | "number"
  | "window"
  | "nothing"
  | "source"
  | ReportInputError;
export type BackupJobInputErrors = Partial<
  Record<keyof BackupJobEntries, BackupJobInputError>
>;

const MB = 1_000_000;

/** Initial values of the form. @param job undefined: a new one, with the defaults of the server */
export function toEntries(job: BackupJob | undefined): BackupJobEntries {
  const count = (value: number | undefined) =>
    value === undefined ? "" : String(value);
  return {
    name: job?.name ?? "",
    ...toVmEntries(job),
    repositories: job?.repositories ?? [],
    retention: toRetentionEntries(job),
    snapshot: job?.snapshot ?? "normal",
    isFull: job?.mode === "full",
    fullInterval: count(job?.fullInterval),
    concurrency: count(job?.concurrency),
    concurrencyPerHost: count(job?.concurrencyPerHost),
    concurrencyPerSr: count(job?.concurrencyPerSr),
    retries: count(job?.retries),
    maxRate: count(job?.maxRate && job.maxRate / MB),
    windowFrom: job?.window?.from ?? "",
    windowTo: job?.window?.to ?? "",
    preferNbd: job?.preferNbd ?? true,
    preferCbt: job?.preferCbt ?? true,
    purgeSnapshotData: job?.purgeSnapshotData ?? false,
    ignoreLongChains: job?.ignoreLongChains ?? false,
    ...toReportEntries(job?.report),
  };
}

/** Initial values of the form fields that select VMs. */
export function toVmEntries(
  job:
    | Pick<BackupJob, "vms" | "filter" | "pattern" | "excludedTags">
    | undefined,
): VmEntries {
  return {
    selection: job === undefined ? "all" : selectionOf(job),
    filter: job?.filter ?? "",
    vms: job?.vms ?? [],
    excludedTags: (job?.excludedTags ?? [DEFAULT_EXCLUDED_TAG]).join(", "),
  };
}

/** The rules of a job as they are typed; those of a new job keep backups of half a year. */
export function toRetentionEntries(
  job: Pick<BackupJob, "retention"> | undefined,
): BackupJobEntries["retention"] {
  const retention: RetentionCounts = job?.retention ?? {
    keepLast: 3,
    keepDaily: 7,
    keepWeekly: 4,
    keepMonthly: 6,
  };
  return Object.fromEntries(
    retentionRules.map((rule) => [rule, String(retention[rule] ?? "")]),
  ) as BackupJobEntries["retention"];
}

/** Allowed values of the fields with numbers. */
const bounds = {
  fullInterval: [1, 10_000],
  concurrency: [1, 32],
  concurrencyPerHost: [1, 256],
  concurrencyPerSr: [1, 256],
  retries: [0, 10],
} as const;

/** What is wrong in the form, by field; empty: it can be sent. */
export function inputErrorsOf(entries: BackupJobEntries): BackupJobInputErrors {
  const inputErrors: BackupJobInputErrors = {};
  if (entries.name.trim() === "") inputErrors.name = "required";
  Object.assign(inputErrors, vmInputErrorsOf(entries));
  if (entries.repositories.length === 0)
    inputErrors.repositories = "repositories";
  const retention = retentionInputError(entries.retention);
  if (retention !== undefined) inputErrors.retention = retention;
  for (const [field, [least, most]] of Object.entries(bounds))
    if (!isWithin(entries[field as keyof typeof bounds], least, most))
      inputErrors[field as keyof typeof bounds] = "number";
  const rate = entries.maxRate.trim();
  if (rate !== "" && !(toNumber(rate) * MB >= 1_024))
    inputErrors.maxRate = "number";
  if ((entries.windowFrom === "") !== (entries.windowTo === ""))
    inputErrors.windowTo = "window";
  return { ...inputErrors, ...reportInputErrorsOf(entries) };
}

/** What is wrong in the form fields that select VMs. */
export function vmInputErrorsOf({
  selection,
  vms,
  filter,
}: VmEntries): Pick<BackupJobInputErrors, "vms" | "filter"> {
  if (selection === "vms" && vms.length === 0) return { vms: "vms" };
  if (selection === "filter" && filter.trim() === "")
    return { filter: "filter" };
  return {};
}

/** At least one rule must keep something: the server refuses a retention of nothing. */
export function retentionInputError(
  retention: BackupJobEntries["retention"],
): BackupJobInputError | undefined {
  const counts = Object.values(retention);
  if (!counts.every((count) => isWithin(count, 0, 1_000))) return "number";
  return counts.some((count) => Number(count) > 0) ? undefined : "retention";
}

/** Whether an optional field is empty or an integer between both. */
export function isWithin(text: string, least: number, most: number): boolean {
  if (text.trim() === "") return true;
  const count = Number(text);
  return Number.isInteger(count) && count >= least && count <= most;
}

/** A comma is a decimal point, too. */
function toNumber(text: string): number {
  return Number(text.trim().replace(",", "."));
}

/** Rules of 0 are omitted. */
export function toRetention(
  entries: BackupJobEntries["retention"],
): RetentionCounts {
  return Object.fromEntries(
    retentionRules.flatMap((rule) => {
      const count = Number(entries[rule].trim());
      return Number.isInteger(count) && count > 0 ? [[rule, count]] : [];
    }),
  );
}

/** The tags of a text, separated by commas. */
export function toTags(text: string): readonly string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

/** The parameter `job` of `job.create` and `job.set`; null removes a property. */
export function toJob(
  entries: BackupJobEntries,
  before: BackupJob | undefined,
): Readonly<Record<string, Json>> {
  const optional = (key: keyof BackupJob, value: Json | undefined) =>
    changedProperty(before, key, value);
  const number = (key: keyof typeof bounds) =>
    optional(key, enteredNumber(entries[key]));
  const { selection, windowFrom, windowTo, maxRate } = entries;
  return {
    type: "backup",
    name: entries.name.trim(),
    // An empty filter matches all VMs.
    ...optional(
      "filter",
      selection === "filter"
        ? entries.filter.trim()
        : selection === "all"
          ? ""
          : undefined,
    ),
    ...optional("vms", selection === "vms" ? [...entries.vms] : undefined),
    ...(selection === "pattern" ? {} : optional("pattern", undefined)),
    excludedTags: [...toTags(entries.excludedTags)],
    repositories: [...entries.repositories],
    retention: { ...toRetention(entries.retention) },
    mode: entries.isFull ? "full" : "incremental",
    snapshot: entries.snapshot,
    ...number("fullInterval"),
    ...number("concurrency"),
    ...number("concurrencyPerHost"),
    ...number("concurrencyPerSr"),
    ...number("retries"),
    ...optional(
      "maxRate",
      maxRate.trim() === "" ? undefined : Math.round(toNumber(maxRate) * MB),
    ),
    ...optional(
      "window",
      windowFrom === "" ? undefined : { from: windowFrom, to: windowTo },
    ),
    preferNbd: entries.preferNbd,
    preferCbt: entries.preferCbt,
    purgeSnapshotData: entries.purgeSnapshotData,
    ignoreLongChains: entries.ignoreLongChains,
    ...toReport(entries, before?.report),
  };
}
