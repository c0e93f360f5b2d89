import type { RestoreTarget } from "@xo-server/backup";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { withStreamTask } from "../../transfers/xapi-streams.js";
import type { Repositories } from "../repositories/repositories.js";

export interface DiskUpload {
  readonly repository: string;
  readonly backup: string;
  /** Name of the disk in the backup. */
  readonly disk: string;
  readonly vdi: Ref;
  /** Id of the backup whose content the VDI has; absent: the VDI is empty. */
  readonly base?: string | undefined;
  readonly signal: AbortSignal;
  /** Called with the XAPI task of the upload before data is sent. */
  readonly onTask?: (task: Ref) => Promise<void>;
  /** @param fraction 0 to 1 */
  readonly onProgress: (fraction: number) => void;
}

/**
 * Writes a disk of a backup into a VDI: a worker reads the repository and sends the
 * data to XAPI, whose task confirms the end.
 * @throws XapiError of the task; XoError BACKUP_*, ABORTED
 */
export async function uploadDisk(
  xapi: Xapi,
  repositories: Pick<Repositories, "run">,
  { repository, backup, disk, vdi, base, ...how }: DiskUpload,
): Promise<void> {
  const { signal, onTask, onProgress } = how;
  await withStreamTask(
    xapi,
    `Restore of ${disk}`,
    {
      signal,
      progress: () => undefined,
      ...(onTask && { onCreated: onTask }),
    },
    async (task) => {
      const { tls, ...endpoint } = await xapi.streamTarget({
        path: "/import_raw_vdi",
        query: { vdi, format: "vhd" },
        task,
      });
      const target: RestoreTarget = {
        type: "upload",
        format: "vhd",
        ...endpoint,
        ...(tls === undefined
          ? {}
          : { tls: { certificates: tls.certificate } }),
        ...(base === undefined ? {} : { base }),
      };
      await repositories.run(
        repository,
        { type: "restore", backup, disk, target },
        {
          signal,
          onProgress: ({ done = 0, total = 0 }) =>
            onProgress(total === 0 ? 0 : Math.min(1, done / total)),
        },
      );
    },
  );
}
