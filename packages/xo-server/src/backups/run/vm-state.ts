import type { SnapshotMode } from "../jobs/settings.js";
import type { VmLogEntry } from "../report/backup-log.js";

/**
 * The persisted state of the backup of a VM in a run. Written before each step that
 * changes something, so that the next process knows what may exist.
 */
export interface VmRunState {
  /** ms since the epoch: of the snapshot, and of the backup. */
  readonly time: number;
  readonly startedAt: number;
  readonly attempt: number;
  /** Whether this run may have blocked operations of the VM. */
  readonly isBlocking?: boolean;
  /** Whether the VM was running, was shut down, and must be started again. */
  readonly mustStart?: boolean;
  readonly mode?: SnapshotMode;
  /** Name of the snapshot that is about to be taken. */
  readonly snapshotName?: string;
  /** UUID of the snapshot. */
  readonly snapshot?: string;
  /** Backups that are stored, by repository. */
  readonly stored?: Readonly<Record<string, string>>;
  /** Backups that the retention deletes, by repository. */
  readonly deleting?: Readonly<Record<string, readonly string[]>>;
  /** Set when the VM is done. */
  readonly entry?: VmLogEntry;
}

export const VM_STEP = "vm:";
