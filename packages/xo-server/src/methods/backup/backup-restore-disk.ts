import { Type } from "typebox";
import {
  abandonRestoreDisk,
  abandonRestoreOver,
} from "../../backups/restore/abandon-restore.js";
import {
  runRestoreDisk,
  type DiskRequest,
} from "../../backups/restore/run-restore-disk.js";
import {
  runRestoreOver,
  type OverRequest,
} from "../../backups/restore/run-restore-over.js";
import { untilSettled } from "../../backups/restore/until-settled.js";
import { asTask } from "../definition/as-task.js";
import { withGrowth } from "../../vms/limits/set-growth.js";
import { archiveId, findVmBackup } from "./backup-archive.js";
import { parts } from "./backup-restore.js";
import {
  defineOperation,
  type OperationContext,
} from "../definition/define-operation.js";
import { actionRoute, idOf } from "../definition/on-object.js";

const closed = { additionalProperties: false } as const;
const disk = Type.String({
  minLength: 1,
  description: "Name of the disk in the backup.",
});

const backupRestoreDisk = defineOperation({
  name: "backup.restoreDisk",
  summary: "Restore one disk of a backup as a new disk and return its id.",
  params: Type.Object(
    {
      id: archiveId,
      disk,
      sr: idOf("the SR of the new disk"),
      name: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 256,
          description: "Name of the new disk.",
        }),
      ),
    },
    closed,
  ),
  result: Type.String(),
  permission: {
    action: "administrate:create-vdi",
    resource: "SR",
    id: ({ sr }) => sr,
  },
  changes: true,
  resumesAtOnce: true,
  rest: actionRoute(
    "/backup-archives/{id}/actions/restore_disk",
    "RestoreBackupArchiveDisk",
  ),
  handler: async (request, context) => {
    await findVmBackup(context, "administrate:restore", request.id);
    return asTask(
      context,
      {
        name: `Restore of disk ${request.disk}`,
        objectId: request.sr,
        objectType: "SR",
        operation: "backup.restoreDisk",
        params: request,
      },
      async (task) => {
        await task.persistState(request);
        return runRestoreDisk(request, parts(context), task);
      },
    );
  },
  resume: async (request: DiskRequest, context, interrupted) => {
    await findVmBackup(context, "administrate:restore", request.id);
    const { xapi } = context.objects.untracked.get(request.sr, "SR");
    const left = { xapi, disks: [request.disk], previous: interrupted };
    await untilSettled(left, context.task);
    return runRestoreDisk(request, parts(context), context.task);
  },
  abandon: abandonRestoreDisk,
});

const backupRestoreOver = defineOperation({
  name: "backup.restoreOver",
  summary:
    "Replace the disks of a halted VM with those of a backup. If a snapshot of a disk has the content of a known backup, only the differences are written. The VM is not changed before all data has been written.",
  params: Type.Object(
    {
      id: archiveId,
      vm: idOf("the VM"),
      disks: Type.Optional(
        Type.Array(Type.String(), {
          maxItems: 256,
          description: "Names of the disks to restore. Default: all.",
        }),
      ),
    },
    closed,
  ),
  result: Type.Boolean(),
  permission: { action: "operate:revert", resource: "VM", id: ({ vm }) => vm },
  changes: true,
  resumesAtOnce: true,
  rest: actionRoute(
    "/backup-archives/{id}/actions/restore_over",
    "RestoreBackupArchiveOver",
  ),
  handler: async (request, context) => {
    await findVmBackup(context, "administrate:restore", request.id);
    const { object } = context.objects.get(request.vm, "VM");
    return asTask(
      context,
      {
        name: `Restore over ${String(object["name_label"])}`,
        objectId: request.vm,
        objectType: "VM",
        operation: "backup.restoreOver",
        params: request,
      },
      (task) => over(request, context, { task }),
    );
  },
  resume: async (request: OverRequest, context, interrupted) => {
    const archive = await findVmBackup(
      context,
      "administrate:restore",
      request.id,
    );
    const { xapi } = context.objects.untracked.get(request.vm, "VM");
    const disks = archive.disks.map(({ name }) => name);
    await untilSettled({ xapi, disks, previous: interrupted }, context.task);
    const { steps } = interrupted;
    return over(request, context, { task: context.task, steps });
  },
  abandon: abandonRestoreOver,
});

async function over(
  request: OverRequest,
  context: OperationContext,
  {
    task,
    steps,
  }: Pick<OperationContext, "task"> & {
    readonly steps?: ReadonlyMap<string, unknown>;
  },
): Promise<true> {
  const grow = (vm: string, disk: number, run: () => Promise<void>) =>
    withGrowth(context.objects.get(vm, "VM"), { disk }, context, run);
  await runRestoreOver(request, { ...parts(context), grow }, task, steps);
  return true;
}
/** Restores of single disks, and restores into an existing VM. */
export const backupRestoreDiskOperations = [
  backupRestoreDisk,
  backupRestoreOver,
];
