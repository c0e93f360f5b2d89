/** What one entry of the log changes. */
export type LogChange =
  | { readonly type: "create" }
  | { readonly type: "add-key"; readonly name: string; readonly digest: string }
  | { readonly type: "remove-key"; readonly name: string }
  | {
      readonly type: "add-backup";
      readonly id: string;
      /** Hexadecimal SHA-256 of the manifest's file. */
      readonly digest: string;
      readonly created: string;
      /** See BackupInput. Absent: none was requested, or the entry is of an earlier version. */
      readonly key?: string;
    }
  | { readonly type: "remove-backups"; readonly ids: readonly string[] }
  | {
      readonly type: "collect";
      /** Files that no backup needs; new backups do not use them from here on. */
      readonly mark: readonly string[];
      /** Files that are needed again. */
      readonly unmark: readonly string[];
      /** Files that are deleted after this entry; no backup may name them any more. */
      readonly remove: readonly string[];
      /** Files of earlier `remove` that no longer exist. */
      readonly removed: readonly string[];
    };

/** A file of the log. Numbers are contiguous and begin at 1. */
export interface LogEntry {
  readonly version: 1;
  readonly sequence: number;
  /** Hexadecimal SHA-256 of the file of the entry before; empty in the first. */
  readonly previous: string;
  /** ISO 8601. */
  readonly time: string;
  readonly change: LogChange;
}

/** Path of a log entry in the repository. Its names sort in the order of the log. */
export function logFile(sequence: number): string {
  return `log/${String(sequence).padStart(10, "0")}`;
}

/** Path of the checkpoint of the state after this entry of the log. */
export function checkpointFile(sequence: number): string {
  return `checkpoints/${String(sequence).padStart(10, "0")}`;
}

/** The state is stored each time this number of entries was added, so that opening reads few files. */
export const CHECKPOINT_INTERVAL = 64;
