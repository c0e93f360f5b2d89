import { XapiError, type Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";

/**
 * Migrates disks to other SRs. XAPI refuses that while their changed blocks are tracked (VDI_CBT_ENABLED), as those of
 * all VMs with incremental backups: tracking is disabled on each disk that it names. The next backup enables it again.
 * @param migrate is called again after each of these disks; XAPI refuses it before anything is moved
 * @throws XapiError; VDI_CBT_ENABLED: of a snapshot
 */
export async function withoutCbt<T>(
  xapi: Xapi,
  migrate: () => Promise<T>,
): Promise<T> {
  const disabled = new Set<Ref>();
  for (;;)
    try {
      return await migrate();
    } catch (error) {
      const disk = trackedDisk(error);
      if (disk === undefined || disabled.has(disk)) throw error;
      disabled.add(disk);
      await xapi.callAsync("VDI.disable_cbt", [disk]).catch(() => {
        // XAPI does not disable it on snapshots: the first error has the reason.
        throw error;
      });
    }
}

/** The disk that XAPI does not migrate because its changed blocks are tracked. */
function trackedDisk(error: unknown): Ref | undefined {
  const isTracked =
    error instanceof XapiError && error.code === "VDI_CBT_ENABLED";
  return isTracked ? error.params[0] : undefined;
}
