import { failureText } from "./failure-text.js";
import type { Messages } from "../locale/messages.js";

/** A run of a backup job as `jobRun.list` returns it. Times in ms since the epoch, sizes in bytes. */
export interface BackupRun {
  readonly id: string;
  readonly jobId: string;
  readonly jobName: string;
  readonly scheduleId?: string;
  readonly status: BackupRunStatus;
  readonly start: number;
  readonly end?: number;
  readonly taskId?: string;
  /** Why it was skipped. */
  readonly reason?: string;
  readonly mode?: "full" | "incremental";
  readonly succeeded?: number;
  readonly failed?: number;
  readonly skipped?: number;
  readonly read?: number;
  readonly stored?: number;
  /** VMs that were not begun because the run was stopped. */
  readonly notBegun?: number;
  /** VMs whose entries were left out or shortened. */
  readonly shortened?: number;
  readonly vms?: readonly VmEntry[];
  /** Of runs that back up no VMs. */
  readonly items?: readonly ItemEntry[];
  readonly error?: LoggedError;
}

type BackupRunStatus =
  | "queued"
  | "pending"
  | "success"
  | "failure"
  | "partial"
  | "skipped"
  | "interrupted"
  | "aborted";

export interface LoggedError {
  readonly code?: string;
  readonly message: string;
  readonly data?: unknown;
}

type EntryStatus = "success" | "failure" | "skipped" | "aborted";

/** A VM of a run. */
export interface VmEntry {
  readonly vm: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  readonly attempts?: number;
  readonly reason?: string;
  readonly repositories?: readonly RepositoryEntry[];
  readonly skippedDisks?: readonly {
    readonly vdi: string;
    readonly name_label: string;
    readonly reason: string;
  }[];
  readonly warnings?: readonly string[];
  /** Of a restore test. */
  readonly test?: TestDetails;
  readonly error?: LoggedError;
}

/** The test of a backup. Times in ms. */
export interface TestDetails {
  /** Id of the backup. */
  readonly archive: string;
  /** Name of its repository. */
  readonly repository: string;
  /** When the backup was taken, since the epoch. */
  readonly time: number;
  readonly method?: "tools" | "script";
  readonly bootMs?: number;
  readonly hasScreenshot?: boolean;
}

/** A pool, the configuration, or the backups of a VM that are copied. */
export interface ItemEntry extends Omit<VmEntry, "vm" | "repositories"> {
  readonly type: "pool" | "configuration" | "VM";
  readonly id: string;
  readonly repositories?: readonly ItemPlaceEntry[];
}

/** An item in one repository; sizes of all that was written. */
export interface ItemPlaceEntry extends RepositoryEntry {
  readonly read?: number;
  readonly stored?: number;
  /** Number of backups that were copied. */
  readonly copied?: number;
}

/** A VM's backup in one repository. */
export interface RepositoryEntry {
  readonly repository: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  readonly backup?: string;
  readonly mode?: "full" | "incremental";
  readonly disks?: readonly DiskEntry[];
  /** Name of the repository for which the disks were read, if they were not read for this one. */
  readonly readFor?: string;
  /** Ids of backups that the retention has deleted. */
  readonly deleted?: readonly string[];
  readonly error?: LoggedError;
}

export interface DiskEntry {
  readonly vdi: string;
  readonly name: string;
  readonly size: number;
  /** How it was read. */
  readonly source: string;
  /** Why not in a way that reads less. */
  readonly reasons?: readonly string[];
  readonly read?: number;
  readonly changed?: number;
  readonly stored?: number;
  readonly mismatches?: number;
}

export const runTones: Readonly<Record<BackupRunStatus, string>> = {
  queued: "busy",
  pending: "busy",
  success: "good",
  failure: "bad",
  partial: "warn",
  skipped: "",
  interrupted: "warn",
  aborted: "warn",
};

export const entryTones: Readonly<Record<EntryStatus, string>> = {
  success: "good",
  failure: "bad",
  skipped: "",
  aborted: "warn",
};

/** Whether the run has not ended; it may still be queued. */
export function isRunning({ status }: Pick<BackupRun, "status">): boolean {
  return status === "pending" || status === "queued";
}

/** Bytes per second that were read; undefined: not known. */
export function readRate({
  read,
  start,
  end,
}: Pick<BackupRun, "read" | "start" | "end">): number | undefined {
  if (read === undefined || end === undefined || end <= start) return undefined;
  return read / ((end - start) / 1000);
}

/** The failures of a run, one for each reason, with the VMs that have it. */
export function failuresOf(
  { vms = [], items = [], error }: Pick<BackupRun, "vms" | "items" | "error">,
  text: Messages,
): readonly {
  readonly reason: string;
  readonly vms: readonly string[];
}[] {
  const byReason = new Map<string, string[]>();
  const add = (reason: string | undefined, name?: string) => {
    if (reason === undefined || reason === "") return;
    const names = byReason.get(reason) ?? [];
    if (name !== undefined && !names.includes(name)) names.push(name);
    byReason.set(reason, names);
  };
  const reasonOf = (failure: LoggedError | undefined) =>
    failure && failureText(failure, text);
  add(reasonOf(error));
  for (const { status, name, error: own, reason, repositories = [] } of [
    ...vms,
    ...items,
  ]) {
    if (status !== "failure" && status !== "aborted") continue;
    const failed = repositories.filter((one) => one.error !== undefined);
    if (failed.length === 0) add(reasonOf(own) ?? reason, name);
    for (const one of failed) add(reasonOf(one.error), name);
  }
  return [...byReason].map(([reason, names]) => ({ reason, vms: names }));
}
