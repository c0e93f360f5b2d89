import {
  fit,
  type EntryStatus,
  type RepositoryLogEntry,
} from "./backup-log.js";

/** An item in one repository. Sizes in bytes. */
export interface ItemRepositoryEntry extends Omit<
  RepositoryLogEntry,
  "disks" | "mode"
> {
  readonly read?: number;
  readonly stored?: number;
  /** Backups that a mirror job has copied. */
  readonly copied?: number;
}

/** What a run of metadata backups or a mirror job works on. Times in ms since the epoch. */
export interface ItemLogEntry {
  readonly type: ItemType;
  /** Of the pool or VM; of the configuration: `configuration`. */
  readonly id: string;
  readonly name: string;
  readonly status: EntryStatus;
  readonly start: number;
  readonly end: number;
  /** Why it was skipped. */
  readonly reason?: string;
  readonly repositories?: readonly ItemRepositoryEntry[];
  readonly warnings?: readonly string[];
  readonly error?: object;
}

export type ItemType = "pool" | "configuration" | "VM";

/** What a run did, as it is stored. Sizes in bytes. */
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

/** The log of a run: failures first, then in full as many as fit. */
export function toItemRunBody(
  entries: readonly ItemLogEntry[],
  more: Pick<ItemRunBody, "notBegun" | "error"> = {},
): ItemRunBody {
  const count = (...statuses: EntryStatus[]) =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  const places = entries.flatMap(({ repositories = [] }) => repositories);
  const sum = (key: "read" | "stored") =>
    places.reduce((total, place) => total + (place[key] ?? 0), 0);
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
