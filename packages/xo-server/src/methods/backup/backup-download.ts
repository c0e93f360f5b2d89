import type { BackupDescription } from "@xo-server/backup";
import { Type } from "typebox";
import { parseArchiveId } from "../../backups/archives/archive.js";
import {
  diskDownload,
  openDownload,
} from "../../backups/restore/open-download.js";
import { planVm } from "../../backups/restore/restore-plan.js";
import { writeOva } from "../../backups/restore/write-ova.js";
import { archiveId, findVmBackup } from "./backup-archive.js";
import { defineOperation } from "../definition/define-operation.js";
import { failInterrupted, getFrom } from "../storage/disk-transfer.js";
import { REPOSITORY_TYPE } from "./find-repository.js";

const closed = { additionalProperties: false } as const;

const backupDownloadDisk = defineOperation({
  name: "backup.downloadDisk",
  summary:
    "Download a disk of a backup, raw or as VHD. Returns the path of the download.",
  params: Type.Object(
    {
      id: archiveId,
      disk: Type.String({
        minLength: 1,
        description: "Name of the disk in the backup.",
      }),
      format: Type.Optional(
        Type.Enum(["raw", "vhd"], {
          description: "Format of the download. Default: vhd.",
        }),
      ),
    },
    closed,
  ),
  result: getFrom,
  permission: "user",
  resume: failInterrupted,
  rest: {
    method: "get",
    path: "/backup-archives/{id}/disks/{disk}.{format}",
    operationId: "DownloadBackupArchiveDisk",
    isTransfer: true,
  },
  handler: async ({ id, disk, format = "vhd" }, context) => {
    const { disks } = await findVmBackup(context, "administrate:restore", id);
    const { services } = context;
    const { repository, backup } = parseArchiveId(id)!;
    const label = disks.find(({ name }) => name === disk)?.properties[
      "name_label"
    ];
    const fileName = `${typeof label === "string" && label !== "" ? label : disk}.${format}`;
    return services.transfers.offerDownload(
      {
        operation: "backup.downloadDisk",
        name: `Download of ${fileName}`,
        object: { id: repository, type: REPOSITORY_TYPE },
        params: { id, disk, format },
        context,
        fileName,
      },
      (work) =>
        openDownload(
          services.backupRepositories,
          diskDownload({ repository, backup, disk, format }),
          work,
        ),
    );
  },
});

const backupDownloadVm = defineOperation({
  name: "backup.downloadVm",
  summary:
    "Download a VM from a backup with its disks as XVA, which any pool can import (vm.import). Returns the path of the download.",
  params: Type.Object(
    {
      id: archiveId,
      format: Type.Optional(
        Type.Enum(["xva"], { description: "Format of the download." }),
      ),
    },
    closed,
  ),
  result: getFrom,
  permission: "user",
  resume: failInterrupted,
  rest: {
    method: "get",
    path: "/backup-archives/{id}.{format}",
    operationId: "DownloadBackupArchive",
    isTransfer: true,
  },
  handler: async ({ id }, context) => {
    await findVmBackup(context, "administrate:restore", id);
    const { backupRepositories, transfers } = context.services;
    const { repository, backup } = parseArchiveId(id)!;
    const description = await backupRepositories.run<BackupDescription>(
      repository,
      { type: "describe", backup },
    );
    const plan = planVm(description, {});
    const fileName = `${plan.name || backup}.xva`;
    return transfers.offerDownload(
      {
        operation: "backup.downloadVm",
        name: `Download of ${fileName}`,
        object: { id: repository, type: REPOSITORY_TYPE },
        params: { id, format: "xva" },
        context,
        fileName,
      },
      (work) => {
        const { text, folders } = writeOva(plan);
        const disks = [...folders].map(([name, folder]) => ({ name, folder }));
        const operation = { type: "export", backup, ova: text, disks } as const;
        const type = "application/octet-stream";
        return openDownload(
          backupRepositories,
          { repository, operation, type },
          work,
        );
      },
    );
  },
});

/** Downloads from backups of VMs. */
export const backupDownloadOperations = [backupDownloadDisk, backupDownloadVm];
