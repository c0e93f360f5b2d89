import type { ServerOptions } from "./server-options.js";
import type { Core } from "./start-core.js";
import type { StopStack } from "../lifecycle/stop-stack.js";
import type { Services } from "../methods/services.js";
import { Repositories } from "../backups/repositories/repositories.js";
import { Workers } from "../backups/repositories/workers.js";

/** Repositories of backups, and the processes that work on them. */
export function startBackupServices(
  { clock, store }: Pick<Core, "clock" | "store">,
  { config, loggers }: Pick<ServerOptions, "config" | "loggers">,
  stops: StopStack,
): Pick<Services, "backupRepositories"> {
  const logger = loggers.named("xo:backup");
  const { maxWorkers } = config.backups;
  const workers = new Workers({ clock, maxWorkers });
  stops.push("backup workers", () => workers.stop());
  const repositories = new Repositories({ store, workers, clock, logger });
  return { backupRepositories: repositories };
}
