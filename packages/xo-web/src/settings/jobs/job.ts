import type { Json } from "@xo-server/kit";

/** A job as `job.getAll` returns it. */
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly type: "call" | "snapshot";
  readonly userId?: string;
  readonly concurrency?: number;
  readonly timeout?: number;
  readonly runTimeout?: number;
  // call
  readonly method?: string;
  readonly paramsVector?: Json;
  // snapshot
  readonly vms?: readonly string[];
  readonly filter?: string;
  readonly excludedTags?: readonly string[];
  readonly retention?: Retention;
  readonly namePattern?: string;
  readonly withMemory?: boolean;
  readonly timezone?: string;
}

export const retentionRules = [
  "keepLast",
  "keepDaily",
  "keepWeekly",
  "keepMonthly",
] as const;
type Retention = Partial<Record<(typeof retentionRules)[number], number>>;

export interface Schedule {
  readonly id: string;
  readonly jobId: string;
  readonly cron: string;
  readonly enabled: boolean;
  readonly name: string;
  readonly timezone?: string;
  readonly missed: string;
  readonly overlap: string;
}

/** Values of the form fields, as typed. */
export interface JobEntries {
  type: Job["type"];
  name: string;
  userId: string;
  concurrency: string;
  method: string;
  /** JSON. */
  params: string;
  filter: string;
  excludedTags: string;
  retention: Record<(typeof retentionRules)[number], string>;
  namePattern: string;
  withMemory: boolean;
}

/** Initial values of the form. @param job undefined: a new one */
export function toEntries(job: Job | undefined): JobEntries {
  const count = (rule: keyof Retention) => String(job?.retention?.[rule] ?? "");
  return {
    type: job?.type ?? "snapshot",
    name: job?.name ?? "",
    userId: job?.userId ?? "",
    concurrency: String(job?.concurrency ?? ""),
    method: job?.method ?? "",
    params:
      job?.paramsVector === undefined
        ? ""
        : JSON.stringify(job.paramsVector, null, 2),
    filter: job?.filter ?? "",
    excludedTags: (job?.excludedTags ?? ["xo:no-bak"]).join(", "),
    retention: {
      keepLast: job === undefined ? "3" : count("keepLast"),
      keepDaily: job === undefined ? "7" : count("keepDaily"),
      keepWeekly: count("keepWeekly"),
      keepMonthly: count("keepMonthly"),
    },
    namePattern: job?.namePattern ?? "",
    withMemory: job?.withMemory ?? false,
  };
}

type JobInputError =
  | "required"
  | "json"
  | "vector"
  | "vms"
  | "retention"
  | "number";
type JobInputErrors = Partial<Record<keyof JobEntries, JobInputError>>;

/** @param hasVms the job lists its VMs and needs no filter */
export function inputErrorsOf(
  entries: JobEntries,
  hasVms = false,
): JobInputErrors {
  const inputErrors: JobInputErrors = {};
  if (entries.name.trim() === "") inputErrors.name = "required";
  if (!isCount(entries.concurrency, 1, 32)) inputErrors.concurrency = "number";
  if (entries.type === "call") {
    if (entries.method.trim() === "") inputErrors.method = "required";
    const inputError = paramsInputError(entries.params);
    if (inputError !== undefined) inputErrors.params = inputError;
    return inputErrors;
  }
  if (entries.filter.trim() === "" && !hasVms) inputErrors.filter = "vms";
  const counts = retentionRules.map((rule) => entries.retention[rule]);
  if (!counts.every((count) => isCount(count, 0, 1_000)))
    inputErrors.retention = "number";
  else if (!counts.some((count) => Number(count) > 0))
    inputErrors.retention = "retention";
  return inputErrors;
}

function isCount(text: string, least: number, most: number): boolean {
  const trimmed = text.trim();
  if (trimmed === "") return true;
  const count = Number(trimmed);
  return Number.isInteger(count) && count >= least && count <= most;
}

function paramsInputError(text: string): "json" | "vector" | undefined {
  if (text.trim() === "") return undefined;
  try {
    const vector = JSON.parse(text) as { readonly type?: unknown } | null;
    return typeof vector?.type === "string" ? undefined : "vector";
  } catch {
    // Reported beside the field.
    return "json";
  }
}

/** The parameter `job` of `job.create` and `job.set`; null removes a property. */
export function toJob(
  entries: JobEntries,
  before: Job | undefined,
): Readonly<Record<string, Json>> {
  const isNew = before === undefined;
  const optional = (key: string, value: Json | undefined) =>
    value === undefined ? (isNew ? {} : { [key]: null }) : { [key]: value };
  const common = {
    type: entries.type,
    name: entries.name.trim(),
    ...(entries.userId === "" ? {} : { userId: entries.userId }),
    ...optional("concurrency", toCount(entries.concurrency)),
  };
  if (entries.type === "call")
    return {
      ...common,
      method: entries.method.trim(),
      ...optional(
        "paramsVector",
        entries.params.trim() === ""
          ? undefined
          : (JSON.parse(entries.params) as Json),
      ),
    };
  return {
    ...common,
    ...optional("filter", entries.filter.trim() || undefined),
    excludedTags: entries.excludedTags
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
    retention: toRetention(entries.retention),
    ...optional("namePattern", entries.namePattern.trim() || undefined),
    withMemory: entries.withMemory,
  };
}

function toRetention(entries: JobEntries["retention"]): Record<string, number> {
  return Object.fromEntries(
    retentionRules.flatMap((rule) => {
      const count = toCount(entries[rule]);
      return count === undefined || count === 0 ? [] : [[rule, count]];
    }),
  );
}

function toCount(text: string): number | undefined {
  return text.trim() === "" ? undefined : Number(text);
}

/** Common cron expressions; others can be typed. */
export const presets = {
  hourly: "0 * * * *",
  nightly: "30 1 * * *",
  workdays: "0 20 * * MON-FRI",
  weekly: "0 4 * * SUN",
  monthly: "0 3 1 * *",
} as const;

/** A run as `jobRun.list` returns it. Times in ms since the epoch. */
export interface JobRun {
  readonly id: string;
  readonly jobId: string;
  readonly jobName: string;
  readonly status: string;
  readonly start: number;
  readonly end?: number;
  readonly reason?: string;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly error?: Json;
  readonly calls?: readonly JobCall[];
  /** Of a backup job, in the place of calls. */
  readonly vms?: Json;
}

export interface JobCall {
  readonly method: string;
  readonly params?: Json;
  readonly start?: number;
  readonly end?: number;
  readonly result?: Json;
  readonly error?: Json;
}

const tones: Readonly<Record<string, string>> = {
  success: "good",
  failure: "bad",
  partial: "warn",
  interrupted: "warn",
  aborted: "warn",
  pending: "busy",
  queued: "busy",
};

/** CSS tone of a run's badge; plain for statuses of later servers. */
export function toneOf({ status }: Pick<JobRun, "status">): string {
  return Object.hasOwn(tones, status) ? tones[status]! : "";
}

/** Whether the run has not ended; it may still be queued. */
export function isRunning({ status }: Pick<JobRun, "status">): boolean {
  return status === "pending" || status === "queued";
}
