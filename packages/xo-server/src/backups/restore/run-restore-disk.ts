import type { BackupDescription } from "@xo-server/backup";
import { XoError, type Ref } from "@xo-server/model";
import type { TaskContext } from "../../tasks/task-context.js";
import { createDisk } from "../../vms/drives/new-vbds.js";
import { Rollback } from "../../vms/rollback.js";
import { parseArchiveId } from "../archives/archive.js";
import { dropUploads, uploadDisk } from "./restore-disk.js";
import { dropDisk, dropUnattached } from "./restore-disks.js";
import { isStopping } from "./restore-vm.js";
import type { RestoreContext } from "./run-restore.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

/** Parameters of the restore, which are also persisted. */
export interface DiskRequest {
  /** `<repository>/<backup>` */
  readonly id: string;
  /** Name of the disk in the backup. */
  readonly disk: string;
  readonly sr: string;
  readonly name?: string | undefined;
  /** An incomplete disk of the previous run of the server. */
  readonly vdi?: Ref;
}

/**
 * Restores one disk as a new VDI, which is deleted if that fails.
 * @returns its id
 * @throws XapiError; XoError NO_SUCH_OBJECT, FORBIDDEN, BACKUP_*, ABORTED
 */
export async function runRestoreDisk(
  request: DiskRequest,
  context: RestoreContext,
  task: TaskContext,
): Promise<string> {
  const { repositories, check } = context;
  const objects = context.objects.forTask(task);
  check("administrate:create-vdi", "SR", request.sr);
  const { xapi, ref: sr } = objects.get(request.sr, "SR");
  const cleanupXapi = objects.untracked.get(request.sr, "SR").xapi;
  const { vdi: begun } = request;
  await dropUploads(cleanupXapi, request.disk, task.wholeTaskId);
  if (begun !== undefined) await dropDisk(cleanupXapi, begun);
  const { repository, backup } = parseArchiveId(request.id)!;
  const { disks } = await repositories.run<BackupDescription>(
    repository,
    { type: "describe", backup },
    { signal: task.signal },
  );
  const disk = disks.find(({ name }) => name === request.disk);
  if (disk === undefined)
    throw new XoError("NO_SUCH_OBJECT", {
      type: "disk of the backup",
      id: request.disk,
    });
  const { name, size, properties } = disk;
  const stored = properties["name_label"];
  const label = request.name ?? (typeof stored === "string" ? stored : name);
  // By this mark, a disk is found that was created before the server was killed, and is not in the state.
  const { wholeTaskId: mark = "" } = task;
  if (mark !== "") await dropUnattached(cleanupXapi, mark, label);
  const rollback = new Rollback();
  try {
    const vdi = await createDisk(
      xapi,
      { sr, size, name: label, vm: mark },
      rollback,
    );
    await task.persistState({ ...request, vdi });
    await uploadDisk(xapi, repositories, {
      repository,
      backup,
      disk: name,
      vdi,
      task: task.wholeTaskId,
      signal: ownedSignal(task),
      onProgress: (fraction) => task.progress(Math.min(0.99, fraction)),
    });
    return (await xapi.call("VDI.get_uuid", [vdi])) as string;
  } catch (error) {
    if (!isStopping(error)) await rollback.run(cleanupXapi);
    throw error;
  }
}
