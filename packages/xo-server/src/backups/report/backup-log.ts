import { toFailure } from "../../tasks/task-view.js";

export type EntryStatus = "success" | "failure" | "skipped" | "aborted";

/** A disk that is not backed up. */
export interface SkippedDisk {
  readonly vdi: string;
  readonly name_label: string;
  readonly userdevice: string;
  readonly reason: string;
}

/** A disk in one repository. Sizes in bytes. */
export interface DiskLogEntry {
  readonly vdi: string;
  readonly name: string;
  readonly size: number;
  /** How the disk was read, and why not in a better way. */
  readonly source: string;
  readonly reasons?: readonly string[];
  readonly read?: number;
  readonly changed?: number;
  readonly stored?: number;
  /** Number of blocks that changed block tracking wrongly reported as unchanged. */
  readonly mismatches?: number;
}

/** The backup of a VM in one repository. Times in ms since the epoch. */
export interface RepositoryLogEntry {
  readonly repository: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  readonly backup?: string;
  readonly mode?: "full" | "incremental";
  readonly disks?: readonly DiskLogEntry[];
  /** Ids of backups that the retention has deleted. */
  readonly deleted?: readonly string[];
  readonly error?: object;
}

/** A VM of a run. Times in ms since the epoch. */
export interface VmLogEntry {
  readonly vm: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  readonly attempts?: number;
  /** Why the VM was skipped. */
  readonly reason?: string;
  readonly repositories?: readonly RepositoryLogEntry[];
  readonly skippedDisks?: readonly SkippedDisk[];
  readonly warnings?: readonly string[];
  readonly error?: object;
}

/** The stored result of a run. Sizes in bytes. */
export interface BackupRunBody {
  readonly mode: "full" | "incremental";
  readonly vms: readonly VmLogEntry[];
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly read: number;
  readonly stored: number;
  /**
   * Number of VMs whose entries have no disks, or that are left out, because of the
   * limit of the log.
   */
  readonly shortened?: number;
  readonly notBegun?: number;
  readonly error?: object;
}

/** Maximum size of all entries together, in bytes. */
const MAX_LENGTH = 180_000;

/** The log of a run: failures first, and as many complete entries as fit. */
export function toRunBody(
  mode: BackupRunBody["mode"],
  entries: readonly VmLogEntry[],
  more: Pick<BackupRunBody, "notBegun" | "error"> = {},
): BackupRunBody {
  const count = (status: EntryStatus) =>
    entries.filter((one) => one.status === status).length;
  const disks = entries.flatMap(({ repositories = [] }) =>
    repositories.flatMap((one) => one.disks ?? []),
  );
  const sum = (key: "read" | "stored") =>
    disks.reduce((total, disk) => total + (disk[key] ?? 0), 0);
  const { fitting, shortened } = fit(entries, shorten);
  return {
    mode,
    vms: fitting,
    succeeded: count("success"),
    failed: count("failure") + count("aborted"),
    skipped: count("skipped"),
    read: sum("read"),
    stored: sum("stored"),
    ...(shortened === 0 ? {} : { shortened }),
    ...more,
  };
}

/** @returns the failure in its stored form */
export function toLoggedError(error: unknown): object {
  return toFailure(error instanceof Error ? error : new Error(String(error)));
}

/** Sorts failures first, and shortens or leaves out entries that do not fit. */
export function fit<T extends Pick<VmLogEntry, "status" | "start">>(
  entries: readonly T[],
  shortenOne: (entry: T) => T,
): { readonly fitting: T[]; readonly shortened: number } {
  const failuresFirst = entries.toSorted(
    (a, b) => rank(a) - rank(b) || a.start - b.start,
  );
  const fitting: T[] = [];
  let room = MAX_LENGTH;
  let shortened = 0;
  for (const entry of failuresFirst) {
    const short = shortenOne(entry);
    const [one] = [entry, short].filter((one) => bytesOf(one) <= room);
    if (one !== entry) shortened++;
    if (one === undefined) continue;
    room -= bytesOf(one);
    fitting.push(one);
  }
  return { fitting, shortened };
}

function bytesOf(entry: object): number {
  return Buffer.byteLength(JSON.stringify(entry));
}

/** Omits the disks of an entry. */
function shorten({ skippedDisks, ...entry }: VmLogEntry): VmLogEntry {
  void skippedDisks;
  const repositories = entry.repositories?.map(({ disks, ...one }) => {
    void disks;
    return one;
  });
  return { ...entry, ...(repositories === undefined ? {} : { repositories }) };
}

function rank({ status }: Pick<VmLogEntry, "status">): number {
  return status === "failure" || status === "aborted" ? 0 : 1;
}
