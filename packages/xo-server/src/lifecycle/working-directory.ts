import type { Logger } from "../log/logger.js";

const INTERVAL_MS = 5_000;

/**
 * Changes to the root folder when the process cannot use its working directory any more, because it was
 * deleted, or belongs to another user (root, who called a command of the service):
 * Node.js cannot start a worker thread without a working directory, and relative
 * paths cannot be resolved in a deleted one.
 * @returns the function that stops the check
 */
export function leaveDeletedWorkingDirectory(logger: Logger): () => void {
  const timer = setInterval(() => {
    if (isWorkingDirectory()) return;
    process.chdir("/");
    logger.warn(
      "the working directory was deleted or is not accessible; relative paths now start at /",
    );
  }, INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}

function isWorkingDirectory(): boolean {
  try {
    // Node.js caches the path until chdir.
    process.chdir(".");
    process.cwd();
    return true;
  } catch {
    // Deleted, or no longer accessible.
    return false;
  }
}
