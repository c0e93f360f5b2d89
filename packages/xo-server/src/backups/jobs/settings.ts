import type { BackupBody } from "../../jobs/job-body.js";
import { tagsOf } from "./vm-selection.js";
import type { ViewObject } from "@xo-server/inventory";

/** How the snapshot of a VM is taken. */
export type SnapshotMode = "normal" | "memory" | "offline";

/** Settings of a run: those of the job, overridden by those of its schedule. */
export function settingsOf<
  T extends { readonly schedules?: Readonly<Record<string, object>> },
>(body: T, scheduleId: string | undefined): T {
  const own =
    scheduleId === undefined ? undefined : body.schedules?.[scheduleId];
  return own === undefined ? body : { ...body, ...own };
}

/** Tags of a VM override the setting of the job. */
export function snapshotModeOf(
  vm: ViewObject | undefined,
  { snapshot = "normal" }: Pick<BackupBody, "snapshot">,
): SnapshotMode {
  const tags = tagsOf(vm);
  if (tags.includes("xo-offline-backup")) return "offline";
  return tags.includes("xo-memory-backup") ? "memory" : snapshot;
}
