import { join } from "node:path";
import { DiskImages } from "../imports/disk-images.js";
import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/definition/services.js";
import { Archives } from "../backups/archives/archives.js";
import { Maintenance } from "../backups/maintenance/maintenance.js";
import { Repositories } from "../backups/repositories/repositories.js";
import { Workers } from "../backups/repositories/workers.js";

/** Repositories of backups, and the processes that work on them. */
export function startBackupServices(
  {
    clock,
    store,
    cluster,
    tasks,
  }: Pick<Core, "clock" | "store" | "cluster"> & Pick<Services, "tasks">,
  { config, loggers }: Pick<ServerOptions, "config" | "loggers">,
  stops: StopStack,
): Pick<
  Services,
  | "backupRepositories"
  | "backupArchives"
  | "backupMaintenance"
  | "backupWorkers"
  | "diskImages"
> {
  const logger = loggers.named("xo:backup");
  const { maxWorkers, workerNiceness: niceness } = config.backups;
  const workers = new Workers({ clock, maxWorkers, niceness });
  stops.push("backup workers", () => workers.stop());
  const repositories = new Repositories({ store, workers, clock, logger });
  const archives = new Archives({ store, repositories, logger });
  stops.push("backup archives", () => archives.stop());
  const maintenance = new Maintenance({
    repositories,
    archives,
    tasks,
    leases: cluster.leases,
    clock,
    logger,
  });
  stops.push("backup maintenance", () => maintenance.stop());
  return {
    backupRepositories: repositories,
    backupArchives: archives,
    backupMaintenance: maintenance,
    backupWorkers: workers,
    diskImages: new DiskImages({
      workers,
      folder: join(config.dataDir, "imports"),
    }),
  };
}
