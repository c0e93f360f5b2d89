import {
  fit,
  type EntryStatus,
  type RepositoryLogEntry,
} from "./backup-log.js";

/** The result for an item in one repository. Sizes in bytes. */
export interface ItemRepositoryEntry extends Omit<
  RepositoryLogEntry,
  "disks" | "mode"
> {
  readonly read?: number;
  readonly stored?: number;
  /** Number of backups that a mirror job has copied. */
  readonly copied?: number;
}

/** An item of a run of metadata backups or of a mirror job. Times in ms since the epoch. */
export interface ItemLogEntry {
  readonly type: ItemType;
  /** Id of the pool or VM; `configuration` for the configuration. */
  readonly id: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  /** Why the item was skipped. */
  readonly reason?: string;
  readonly repositories?: readonly ItemRepositoryEntry[];
  readonly warnings?: readonly string[];
  readonly error?: object;
}

type ItemType = "pool" | "configuration" | "VM";

/** The stored result of a run. Sizes in bytes. */
export interface ItemRunBody {
  readonly items: readonly ItemLogEntry[];
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly read: number;
  readonly stored: number;
  /** Items that are shortened or left out because of the limit of the log. */
  readonly shortened?: number;
  readonly notBegun?: number;
  readonly error?: object;
}

/** The log of a run: failures first, and as many complete entries as fit. */
export function toItemRunBody(
  entries: readonly ItemLogEntry[],
  more: Pick<ItemRunBody, "notBegun" | "error"> = {},
): ItemRunBody {
  const count = (...statuses: EntryStatus[]) =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  const reports = entries.flatMap(({ repositories = [] }) => repositories);
  const sum = (key: "read" | "stored") =>
    reports.reduce((total, report) => total + (report[key] ?? 0), 0);
  const { fitting, shortened } = fit(entries, withoutWarnings);
  return {
    items: fitting,
    succeeded: count("success"),
    failed: count("failure", "aborted"),
    skipped: count("skipped"),
    read: sum("read"),
    stored: sum("stored"),
    ...(shortened === 0 ? {} : { shortened }),
    ...more,
  };
}

function withoutWarnings({ warnings, ...entry }: ItemLogEntry): ItemLogEntry {
  void warnings;
  return entry;
}
