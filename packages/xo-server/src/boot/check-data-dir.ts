import { stat } from "node:fs/promises";
import type { ServerOptions } from "./server-options.js";

/**
 * Logs a warning if other users can list the data directory of the server. Its
 * files are private, but their names and dates would be visible.
 */
export async function checkDataDir({
  config,
  demo,
  loggers,
}: Pick<ServerOptions, "config" | "demo" | "loggers">): Promise<void> {
  if (demo !== undefined || process.platform === "win32") return;
  const { dataDir } = config;
  // A missing directory is created with mode 0700.
  const mode = await stat(dataDir).then(
    (found) => found.mode & 0o777,
    () => 0,
  );
  if ((mode & 0o077) === 0) return;
  loggers
    .named("xo:main")
    .warn(
      `other users can enter ${dataDir} (mode 0${mode.toString(8)}): chmod 700 ${dataDir}`,
    );
}
