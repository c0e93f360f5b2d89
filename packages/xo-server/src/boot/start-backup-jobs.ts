import { join } from "node:path";
import { ConfigurationFiles } from "../backups/metadata/configuration-files.js";
import { MetadataKind } from "../backups/metadata/metadata-kind.js";
import { MirrorKind } from "../backups/mirror/mirror-kind.js";
import { BackupFigures } from "../backups/report/backup-figures.js";
import { BackupCoverage } from "../backups/report/coverage.js";
import {
  RunReports,
  type RunReportsOptions,
} from "../backups/report/run-reports.js";
import { createArchiveAccess } from "../backups/run/archive-access.js";
import { BackupKind } from "../backups/run/backup-kind.js";
import { RestoreTestKind } from "../backups/restore-tests/restore-test-kind.js";
import { sweepTests } from "../backups/restore-tests/sweep-tests.js";
import { Leftovers } from "../backups/run/leftovers.js";
import type { JobKind, JobKinds } from "../jobs/job-kind.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import { createMailSender } from "../notifications/mail-sender.js";
import { createMessageSender } from "../notifications/send-message.js";
import type { Services } from "../methods/definition/services.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";

/** The job types of backups and of restore tests, and their cleanup. */
interface BackupJobs {
  readonly kinds: JobKinds;
  /** Removes what interrupted runs have left in pools. */
  readonly leftovers: Leftovers;
  readonly backupCoverage: BackupCoverage;
  readonly figures: BackupFigures;
}

/** Creates the types of jobs that have to do with backups. */
export async function startBackupJobs(
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
  {
    config: { dataDir, mail },
    loggers,
  }: Pick<ServerOptions, "config" | "loggers">,
): Promise<BackupJobs> {
  const logger = loggers.named("xo:backup");
  const { store, clock, objects } = core;
  const { queries } = core.views;
  let isStopping = false;
  stops.push("backup jobs", () => {
    isStopping = true;
  });
  const parts = {
    store,
    clock,
    objects,
    users,
    repositories: backupRepositories,
    archives: createArchiveAccess(backupArchives, backupRepositories),
    isStopping: () => isStopping,
  };
  const { catalog } = core.views;
  const backups = new BackupKind({ ...parts, catalog });
  const folder = join(dataDir, "backup-files");
  const files = new ConfigurationFiles({ store, folder });
  await files.clear();
  const metadata = new MetadataKind({ ...parts, files });
  const mirror = new MirrorKind({
    ...parts,
    repositories: backupRepositories,
    index: backupArchives,
  });
  const restoreTests = new RestoreTestKind({
    ...parts,
    catalog,
    repositories: backupRepositories,
    archives: backupArchives,
    workers: backupWorkers,
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
    ...parts,
    catalog,
    archives: backupArchives,
  });
  return {
    kinds: withReports(
      new Map<string, JobKind>([
        ["backup", backups],
        ["restore-test", restoreTests],
        ["metadataBackup", metadata],
        ["mirrorBackup", mirror],
      ]),
      { mail, clock, logger },
      stops,
    ),
    leftovers,
    backupCoverage,
    figures: new BackupFigures({ store, coverage: backupCoverage, clock }),
  };
}

/** The same job types, whose runs are reported by mail as the jobs configure it. */
function withReports(
  kinds: JobKinds,
  {
    mail,
    ...parts
  }: Pick<ServerOptions["config"], "mail"> &
    Omit<RunReportsOptions, "sendMessage">,
  stops: StopStack,
): JobKinds {
  const sendMessage = createMessageSender(createMailSender(mail), parts.clock);
  const reports = new RunReports({ sendMessage, ...parts });
  stops.push("reports of backups", () => reports.stop());
  return new Map(
    Array.from(kinds, ([type, kind]) => [type, reports.ofKind(kind)]),
  );
}
