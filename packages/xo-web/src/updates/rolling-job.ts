import type { BackupRun, LoggedError } from "../backup/run.js";
import type { Windows } from "../details/pool/windows.js";

/** A job that updates pools in ordered groups, as `job.getAll` returns it. */
export interface RollingJob {
  readonly id: string;
  readonly name: string;
  readonly type: "rollingUpdate";
  /** Ids of pools. The pools of a group are updated at the same time. */
  readonly groups: readonly (readonly string[])[];
  readonly windows?: Windows;
  readonly parallel?: number;
  readonly concurrency?: number;
  readonly shutdownPinnedVms?: boolean;
  readonly migrateBack?: boolean;
}

/** A run of such a job. Times in ms since the epoch. */
export interface RollingJobRun extends BackupRun {
  /** Pools whose update has started; absent during the run. */
  readonly pools?: readonly {
    readonly pool: string;
    readonly name: string;
    readonly status: "success" | "failure";
    readonly start: number;
    readonly end: number;
    readonly error?: LoggedError;
  }[];
}
