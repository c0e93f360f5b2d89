import { createArchiveAccess } from "../backups/run/archive-access.js";
import { BackupKind } from "../backups/run/backup-kind.js";
import type { JobKinds } from "../jobs/job-kind.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/services.js";
import type { Core } from "./start-core.js";

/** The job types that back up. */
export interface BackupJobs {
  readonly kinds: JobKinds;
  readonly backups: BackupKind;
}

export function startBackupJobs(
  core: Core,
  {
    users,
    backupRepositories,
    backupArchives,
  }: Pick<Services, "users" | "backupRepositories" | "backupArchives">,
  stops: StopStack,
): BackupJobs {
  const { store, clock, objects } = core;
  let isStopping = false;
  stops.push("backup jobs", () => {
    isStopping = true;
  });
  const backups = new BackupKind({
    store,
    clock,
    objects,
    people: users,
    catalog: core.views.catalog,
    repositories: backupRepositories,
    archives: createArchiveAccess(backupArchives, backupRepositories),
    isStopping: () => isStopping,
  });
  return { kinds: new Map([["backup", backups]]), backups };
}
