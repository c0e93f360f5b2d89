import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/** Snapshots with changed block tracking of disks that move to other SRs. */
export interface TrackedSnapshots {
  /** Their disks: XAPI does not move them. */
  readonly disks: ReadonlySet<Ref>;
  /** Deletes them. */
  delete(): Promise<void>;
  /** Deletes snapshots of a disk that have no data: of no use any more as soon as its tracking is disabled. */
  deleteTrackingData(disk: Ref): Promise<void>;
}

interface WithoutCbtOptions {
  /** Only reads. @throws XoError TRACKED_SNAPSHOT: one of them may not be deleted */
  readonly findSnapshots: () => Promise<TrackedSnapshots>;
  /**
   * Is called again after each change. XAPI refuses it before anything is moved: for tracked disks before it checks
   * anything else, for tracked snapshots after all else [xapi_vm_migrate.ml].
   */
  readonly migrate: () => Promise<unknown>;
}

/**
 * Migrates disks to other SRs. XAPI refuses that while their changed blocks are tracked (VDI_CBT_ENABLED), as those of
 * all VMs with incremental backups: tracking is disabled on each disk that it names, and enabled again if the migration
 * fails; when it names a snapshot, all that are tracked are deleted.
 * @throws XapiError, XoError; before anything is changed if a snapshot may not be deleted
 */
export async function withoutCbt(
  xapi: Xapi,
  { findSnapshots, migrate }: WithoutCbtOptions,
): Promise<unknown> {
  const disabled = new Set<Ref>();
  let snapshots: TrackedSnapshots | undefined;
  let areDeleted = false;
  /** @returns false: nothing is left to change */
  const makeMovable = async (disk: Ref): Promise<boolean> => {
    snapshots ??= await findSnapshots();
    if (snapshots.disks.has(disk)) {
      if (areDeleted) return false;
      areDeleted = true;
      await snapshots.delete();
      return true;
    }
    if (disabled.has(disk)) return false;
    disabled.add(disk);
    await xapi.callAsync("VDI.disable_cbt", [disk]);
    await snapshots.deleteTrackingData(disk);
    return true;
  };
  try {
    for (;;)
      try {
        return await migrate();
      } catch (error) {
        const disk = trackedDisk(error);
        if (disk === undefined || !(await makeMovable(disk))) throw error;
      }
  } catch (error) {
    await enableAgain(xapi, disabled);
    throw error;
  }
}

/** The disk that XAPI does not migrate because its changed blocks are tracked. */
function trackedDisk(error: unknown): Ref | undefined {
  const isTracked =
    error instanceof XapiError && error.code === "VDI_CBT_ENABLED";
  return isTracked ? error.params[0] : undefined;
}

async function enableAgain(xapi: Xapi, disks: ReadonlySet<Ref>): Promise<void> {
  for (const disk of disks)
    await xapi.callAsync("VDI.enable_cbt", [disk]).catch(() => {
      // The error of the migration is what clients need; the next backup enables tracking.
    });
}
