import type { JobRun } from "@xo-server/store";
import type {
  BackupRunBody,
  RepositoryLogEntry,
  VmLogEntry,
} from "./backup-log.js";

/** A run, or a part of it, as clients of Xen Orchestra know it. Times in ms since the epoch. */
export interface ContractLog {
  readonly id: string;
  readonly message: string;
  readonly start: number;
  readonly end?: number;
  readonly status: string;
  readonly data?: object;
  readonly result?: unknown;
  readonly warnings?: readonly { readonly message: string }[];
  readonly tasks?: readonly ContractLog[];
}

export interface ContractRunLog extends ContractLog {
  readonly jobId: string;
  readonly jobName: string;
  readonly scheduleId?: string;
}

export function toContractLog(run: JobRun): ContractRunLog {
  const body = run.body as Partial<BackupRunBody> & {
    readonly reason?: string;
  };
  const { vms = [], mode = "incremental", error, reason } = body;
  return {
    id: run.id,
    message: "backup",
    jobId: run.jobId,
    jobName: run.jobName,
    ...(run.scheduleId === undefined ? {} : { scheduleId: run.scheduleId }),
    start: run.startedAt,
    ...(run.endedAt === undefined ? {} : { end: run.endedAt }),
    status: statusOf(run.status),
    data: { mode: mode === "full" ? "full" : "delta" },
    ...(error === undefined && reason === undefined
      ? {}
      : { result: error ?? { message: reason } }),
    tasks: vms.map((vm) => toVmLog(run.id, vm)),
  };
}

function toVmLog(run: string, entry: VmLogEntry): ContractLog {
  const { vm, name, status, start, end, error, reason, warnings } = entry;
  const { repositories = [] } = entry;
  return {
    id: `${run}.${vm}`,
    message: "backup VM",
    data: { type: "VM", id: vm, name_label: name },
    start,
    end,
    status: statusOf(status),
    ...(error === undefined && reason === undefined
      ? {}
      : { result: error ?? { message: reason } }),
    ...(warnings === undefined
      ? {}
      : { warnings: warnings.map((message) => ({ message })) }),
    tasks: repositories.map((one) => toExportLog(`${run}.${vm}`, one)),
  };
}

function toExportLog(parent: string, entry: RepositoryLogEntry): ContractLog {
  const { repository, status, start, end, mode, disks = [], error } = entry;
  const id = `${parent}.${repository}`;
  const size = disks.reduce((sum, { read = 0 }) => sum + read, 0);
  const transfer: ContractLog = {
    id: `${id}.transfer`,
    message: "transfer",
    start,
    end,
    status: "success",
    result: { size },
  };
  return {
    id,
    message: "export",
    data: { id: repository, type: "remote", isFull: mode === "full" },
    start,
    end,
    status: statusOf(status),
    ...(error === undefined ? {} : { result: error }),
    tasks: status === "success" ? [transfer] : [],
  };
}

function statusOf(status: string): string {
  switch (status) {
    case "partial":
    case "aborted":
      return "failure";
    case "queued":
      return "pending";
    default:
      return status;
  }
}
