import type { WallClock } from "@xo-server/kit";
import type { BackupBody } from "../../jobs/job-body.js";
import type { PoolObject, PoolObjects } from "../../objects/pool-objects.js";
import type { ArchiveAccess, RepositoryAccess } from "./repository-access.js";
import type { VmRunState } from "./vm-state.js";

export interface VmBackupParts {
  readonly objects: PoolObjects;
  readonly repositories: RepositoryAccess;
  readonly archives: ArchiveAccess;
  readonly clock: Pick<WallClock, "now">;
}

/** The run in which a VM is backed up. */
export interface VmBackupRun {
  readonly job: { readonly id: string; readonly name: string };
  readonly runId: string;
  readonly scheduleId: string | undefined;
  readonly settings: BackupBody;
  readonly timezone: string | undefined;
  /** Persists the state. Resolves when it is on disk, and never while the server stops. */
  readonly persist: (state: VmRunState) => Promise<void>;
  /** Whether the run is continued after a restart: a backup may have been stored before it. */
  readonly isResumed: boolean;
  /** Pool of the VM, for the manifest. */
  readonly pool: { readonly uuid: string; readonly name: string };
  /** @throws XoError FORBIDDEN */
  readonly checkRights: (vm: PoolObject) => void;
}
