import type { Job } from "@xo-server/store";
import type { RunOutcome } from "../../jobs/run-outcome.js";
import { sizeText } from "../../notifications/size-text.js";
import type {
  NotificationMessage,
  MessageLine,
  MessageLevel,
} from "../../notifications/message.js";

/** Members that entries of all types of backup jobs may have. */
interface ReportedEntry {
  readonly name: string;
  readonly status: string;
  readonly start?: number;
  readonly end?: number;
  readonly reason?: string;
  readonly error?: object;
  readonly warnings?: readonly string[];
  readonly skippedDisks?: readonly {
    readonly name_label: string;
    readonly reason: string;
  }[];
  readonly repositories?: readonly ReportedRepository[];
}

interface ReportedRepository {
  readonly name: string;
  readonly status: string;
  readonly mode?: string;
  readonly read?: number;
  readonly stored?: number;
  readonly copied?: number;
  readonly deleted?: readonly string[];
  readonly error?: object;
  readonly disks?: readonly {
    readonly name: string;
    readonly source: string;
    readonly read?: number;
    readonly stored?: number;
    readonly reasons?: readonly string[];
    readonly mismatches?: number;
  }[];
}

interface ReportedBody {
  readonly vms?: readonly ReportedEntry[];
  readonly items?: readonly ReportedEntry[];
  readonly succeeded?: number;
  readonly failed?: number;
  readonly skipped?: number;
  readonly notBegun?: number;
  readonly error?: object;
}

/** Maximum number of lines of a report; webhooks get the whole log. */
const MAX_LINES = 500;

/** Converts a run to a report: results, skipped items and reasons. */
export function toReport(
  {
    runId,
    job,
    time,
  }: {
    readonly runId: string;
    readonly job: Pick<Job, "id" | "name" | "type">;
    /** ms since the epoch */
    readonly time: number;
  },
  { status, body }: RunOutcome,
): NotificationMessage {
  const log = body as ReportedBody;
  const entries = log.vms ?? log.items ?? [];
  const lines = entries.flatMap(linesOf);
  const more = lines.length - MAX_LINES;
  const shown =
    more > 0
      ? [...lines.slice(0, MAX_LINES), { text: `... and ${more} more lines` }]
      : lines;
  const { id, name, type } = job;
  return {
    title: oneLine(`Job ${name}: ${status}`),
    tone: toneOf(status),
    lead: leadOf(log),
    lines: shown,
    time: new Date(time).toISOString(),
    json: {
      event: "job-run",
      job: { id, name, type },
      run: runId,
      status,
      log,
    },
  };
}

function leadOf({
  succeeded = 0,
  failed = 0,
  skipped = 0,
  notBegun = 0,
  error,
}: ReportedBody): string {
  const counts = `${succeeded} succeeded, ${failed} failed, ${skipped} skipped`;
  const left = notBegun === 0 ? "" : `, ${notBegun} not begun`;
  return oneLine(`${counts}${left}${errorOf(error)}`);
}

function linesOf(entry: ReportedEntry): MessageLine[] {
  const { name, status, start, end, reason, error } = entry;
  const seconds =
    start === undefined || end === undefined || status === "skipped"
      ? ""
      : ` in ${Math.round((end - start) / 1000)} s`;
  const why = reason === undefined ? "" : `: ${reason}`;
  const details = [
    ...(entry.repositories ?? []).flatMap(placeLines),
    ...(entry.skippedDisks ?? []).map(
      (disk) => `disk ${disk.name_label}: skipped: ${disk.reason}`,
    ),
    ...(entry.warnings ?? []).map((warning) => `warning: ${warning}`),
  ];
  return [
    `${name}: ${status}${seconds}${why}${errorOf(error)}`,
    ...details.map((one) => `  ${one}`),
  ].map((text) => ({ text: oneLine(text) }));
}

function placeLines({
  name,
  status,
  mode,
  copied,
  deleted = [],
  error,
  disks = [],
  ...figures
}: ReportedRepository): string[] {
  const parts = [
    ...(mode === undefined ? [] : [mode]),
    ...figuresOf(figures),
    ...(copied === undefined ? [] : [`${copied} backups copied`]),
    ...(deleted.length === 0 ? [] : [`${deleted.length} old deleted`]),
  ];
  const all = parts.length === 0 ? "" : ` (${parts.join(", ")})`;
  return [
    `${name}: ${status}${all}${errorOf(error)}`,
    ...disks.map(({ name, source, reasons = [], mismatches = 0, ...own }) => {
      const parts = [
        source,
        ...figuresOf(own),
        ...(mismatches === 0
          ? []
          : [`${mismatches} blocks differed from changed block tracking`]),
        ...reasons,
      ];
      return `  disk ${name}: ${parts.join(", ")}`;
    }),
  ];
}

function figuresOf({
  read,
  stored,
}: Pick<ReportedRepository, "read" | "stored">): string[] {
  return [
    ...(read === undefined ? [] : [`${sizeText(read)} read`]),
    ...(stored === undefined ? [] : [`${sizeText(stored)} stored`]),
  ];
}

function errorOf(error: object | undefined): string {
  const { message } = (error ?? {}) as { readonly message?: unknown };
  return typeof message === "string" ? `: ${message}` : "";
}

function toneOf(status: RunOutcome["status"]): MessageLevel {
  if (status === "success") return "resolved";
  return status === "failure" ? "critical" : "warning";
}

/** On one line, because users choose names. */
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\t\u2028\u2029]+/g, " ").slice(0, 1_000);
}
