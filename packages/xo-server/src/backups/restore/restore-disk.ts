import type { RestoreTarget } from "@xo-server/backup";
import type { Ref } from "@xo-server/model";
import type { Xapi } from "@xo-server/xen-api";
import { dropTask } from "../../tasks/drop-task.js";
import { withStreamTask } from "../../transfers/xapi-streams.js";
import type { Repositories } from "../repositories/repositories.js";

interface DiskUpload {
  readonly repository: string;
  readonly backup: string;
  /** Name of the disk in the backup. */
  readonly disk: string;
  readonly vdi: Ref;
  /** Id of the backup whose content the VDI has; absent: the VDI is empty. */
  readonly base?: string | undefined;
  /** Id of the task of this server. */
  readonly task: string | undefined;
  readonly signal: AbortSignal;
  /** @param fraction 0 to 1 */
  readonly onProgress: (fraction: number) => void;
}

/** Name of the XAPI task of an upload. */
const labelOf = (disk: string): string => `Restore of ${disk}`;

const describe = (task: string | undefined): string | undefined =>
  task === undefined ? undefined : `task ${task} of xo-server`;

/**
 * Deletes the XAPI tasks of uploads of a disk that a process has begun which has ended, or
 * from which the task of this server was taken over. XAPI would keep pending ones for a day.
 * @param disk its name in the backup
 * @throws XapiError
 */
export async function dropUploads(
  xapi: Xapi,
  disk: string,
  task: string | undefined,
): Promise<void> {
  if (task === undefined) return;
  const found = await xapi.call("task.get_by_name_label", [labelOf(disk)]);
  for (const ref of found as readonly Ref[]) {
    const isOwn = await xapi.call("task.get_name_description", [ref]).then(
      (description) => description === describe(task),
      // It has been deleted meanwhile.
      () => false,
    );
    if (isOwn) await dropTask(xapi, ref);
  }
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
  const { signal, onProgress } = how;
  await withStreamTask(
    xapi,
    labelOf(disk),
    {
      signal,
      description: describe(how.task),
      progress: () => undefined,
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
