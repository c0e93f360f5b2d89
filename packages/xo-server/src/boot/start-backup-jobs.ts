import { BackupFigures } from "../backups/report/backup-figures.js";
import { BackupCoverage } from "../backups/report/coverage.js";
import { createArchiveAccess } from "../backups/run/archive-access.js";
import { BackupKind } from "../backups/run/backup-kind.js";
import { RestoreTestKind } from "../backups/restore-tests/restore-test-kind.js";
import { sweepTests } from "../backups/restore-tests/sweep-tests.js";
import { Leftovers } from "../backups/run/leftovers.js";
import type { JobKind, JobKinds } from "../jobs/job-kind.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Logger } from "../log/logger.js";
import type { Services } from "../methods/services.js";
import type { Core } from "./start-core.js";

/** The job types that back up. */
export interface BackupJobs {
  readonly kinds: JobKinds;
  /** Removes what interrupted runs have left in pools. */
  readonly leftovers: Leftovers;
  readonly backupCoverage: BackupCoverage;
  readonly figures: BackupFigures;
}

export function startBackupJobs(
  core: Core,
  {
    users,
    backupRepositories,
    backupArchives,
    backupWorkers,
  }: Pick<
    Services,
    "users" | "backupRepositories" | "backupArchives" | "backupWorkers"
  >,
  stops: StopStack,
  logger: Logger,
): BackupJobs {
  const { store, clock, objects } = core;
  const { queries } = core.views;
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
  const restoreTests = new RestoreTestKind({
    store,
    clock,
    objects,
    people: users,
    catalog: core.views.catalog,
    repositories: backupRepositories,
    archives: backupArchives,
    workers: backupWorkers,
    isStopping: () => isStopping,
  });
  const searched = { store, queries, objects, logger };
  const leftovers = new Leftovers({
    ...searched,
    leases: core.cluster.leases,
    clock,
    sweepTests: () => sweepTests(searched),
  });
  stops.push("leftovers of backups", () => leftovers.stop());
  const backupCoverage = new BackupCoverage({
    store,
    people: users,
    catalog: core.views.catalog,
    archives: backupArchives,
    clock,
  });
  return {
    kinds: new Map<string, JobKind>([
      ["backup", backups],
      ["restore-test", restoreTests],
    ]),
    leftovers,
    backupCoverage,
    figures: new BackupFigures({ store, coverage: backupCoverage, clock }),
  };
}
