import type { JobRun } from "@xo-server/store";
import type {
  BackupRunBody,
  RepositoryLogEntry,
  VmLogEntry,
} from "./backup-log.js";
import type { ItemLogEntry, ItemRunBody } from "./item-log.js";

/** A run, or a part of it, in the form of Xen Orchestra's API. Times in ms since the epoch. */
interface ContractLog {
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

/** A run of a backup job in Xen Orchestra's form, with a task for each VM or item. */
export function toContractLog(run: JobRun): ContractRunLog {
  const body = run.body as Partial<BackupRunBody> &
    Partial<Pick<ItemRunBody, "items">> & {
      readonly reason?: string;
    };
  const { vms = [], items, mode = "incremental", error, reason } = body;
  return {
    id: run.id,
    message: "backup",
    jobId: run.jobId,
    jobName: run.jobName,
    ...(run.scheduleId === undefined ? {} : { scheduleId: run.scheduleId }),
    start: run.startedAt,
    ...(run.endedAt === undefined ? {} : { end: run.endedAt }),
    status: statusOf(run.status),
    ...(items === undefined
      ? { data: { mode: mode === "full" ? "full" : "delta" } }
      : {}),
    ...(error === undefined && reason === undefined
      ? {}
      : { result: error ?? { message: reason } }),
    tasks: [
      ...vms.map((vm) => toVmLog(run.id, vm)),
      ...(items ?? []).map((item) => toItemLog(run.id, item)),
    ],
  };
}

/** Xen Orchestra's word for its own configuration is `xo`. */
function toItemLog(run: string, item: ItemLogEntry): ContractLog {
  const { type, id, name, repositories = [] } = item;
  const messages = {
    pool: "pool metadata backup",
    configuration: "config backup",
    VM: "mirror VM",
  };
  const data = {
    pool: { type, id, pool: { uuid: id, name_label: name } },
    configuration: { type: "xo" },
    VM: { type, id, name_label: name },
  };
  return {
    ...toEntryLog(`${run}.${id}`, item),
    message: messages[type],
    data: data[type],
    tasks: repositories.map((one) => ({
      ...toEntryLog(`${run}.${id}.${one.repository}`, one),
      message: "remote",
      data: { type: "remote", id: one.repository },
    })),
  };
}

/** Converts the members that entries of all kinds have. */
function toEntryLog(
  id: string,
  entry: Pick<
    ItemLogEntry,
    "start" | "end" | "status" | "error" | "reason" | "warnings"
  >,
): Omit<ContractLog, "message"> {
  const { start, end, status, error, reason, warnings } = entry;
  return {
    id,
    start,
    end,
    status: statusOf(status),
    ...(error === undefined && reason === undefined
      ? {}
      : { result: error ?? { message: reason } }),
    ...(warnings === undefined
      ? {}
      : { warnings: warnings.map((message) => ({ message })) }),
  };
}

function toVmLog(run: string, entry: VmLogEntry): ContractLog {
  const { vm, name, repositories = [] } = entry;
  const id = `${run}.${vm}`;
  return {
    ...toEntryLog(id, entry),
    message: "backup VM",
    data: { type: "VM", id: vm, name_label: name },
    tasks: repositories.map((one) => toExportLog(id, one)),
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
