import type { SnapshotMode } from "../jobs/settings.js";
import type { VmLogEntry } from "../report/backup-log.js";

/**
 * What a run has done for a VM, as it is persisted: written before each step
 * that changes something, so that the next process knows what may exist.
 */
export interface VmRunState {
  /** ms since the epoch: of the snapshot, and of the backup. */
  readonly time: number;
  readonly startedAt: number;
  readonly attempt: number;
  /** XAPI operations of the VM may be blocked by this run. */
  readonly isBlocking?: boolean;
  /** It was running, was shut down, and must be started again. */
  readonly mustStart?: boolean;
  readonly mode?: SnapshotMode;
  /** Name of the snapshot that is about to be taken. */
  readonly snapshotName?: string;
  /** UUID of the snapshot. */
  readonly snapshot?: string;
  /** Backups that are stored, by repository. */
  readonly stored?: Readonly<Record<string, string>>;
  /** Set when the VM is done. */
  readonly entry?: VmLogEntry;
}

export const VM_STEP = "vm:";
