import type { Xapi } from "@xo-server/xen-api";
import type { TaskContext } from "../../tasks/task-context.js";
import type { Repositories } from "../repositories/repositories.js";
import { uploadDisk } from "./restore-disk.js";
import type { DiskParts } from "./restore-disks.js";
import type { RestoreProgress } from "./restore-progress.js";
import { ownedSignal } from "../../tasks/owned-signal.js";

interface DiskUploaderOptions {
  readonly xapi: Xapi;
  readonly repositories: Pick<Repositories, "run">;
  readonly repository: string;
  readonly backup: string;
  readonly task: Pick<TaskContext, "signal" | "lease" | "wholeTaskId">;
  readonly progress: Pick<RestoreProgress, "report">;
}

/** Writes disks of one backup, and reports the progress of each disk and of all together. */
export function createDiskUploader({
  xapi,
  repositories,
  repository,
  backup,
  task,
  progress,
}: DiskUploaderOptions): DiskParts["upload"] {
  return (disk, target, part) =>
    uploadDisk(xapi, repositories, {
      repository,
      backup,
      disk: disk.name,
      ...target,
      task: task.wholeTaskId,
      signal: ownedSignal(task),
      onProgress(fraction) {
        part.progress(fraction);
        progress.report(disk.name, fraction, disk.size);
      },
    });
}
