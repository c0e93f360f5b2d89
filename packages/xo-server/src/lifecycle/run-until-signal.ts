import { ExitCode } from "./exit-code.js";
import type { Logger } from "../log/logger.js";

/** Maximum time from the first signal, or from the end of the draining, to the end of the process, in ms. */
const STOP_LIMIT_MS = 5000;
/** Time reserved for the last log lines, in ms. */
const MARGIN_MS = 300;

const codeOfSecond = {
  SIGTERM: ExitCode.terminated,
  SIGINT: ExitCode.interrupted,
} as const;
type StopSignal = keyof typeof codeOfSecond;

/** A started server. */
interface Running {
  stop(): Promise<void>;
}

/**
 * Starts, waits for SIGTERM or SIGINT, and stops. A stop is abandoned after 5 s; a
 * second signal ends the process immediately.
 * @param drainMs additional time for a stop
 * @throws the error of `start`
 */
export async function runUntilSignal(
  logger: Logger,
  start: (signal: AbortSignal) => Promise<Running>,
  drainMs = 0,
): Promise<ExitCode> {
  const ending = new AbortController();
  const ended = listen(logger, ending);
  let running: Running;
  try {
    running = await start(ending.signal);
  } catch (error) {
    // The signal arrived during the start, and `start` has stopped everything that it had started.
    if (!ending.signal.aborted) throw error;
    logger.info("Stopped");
    return ended;
  }
  const code = await ended;
  const limitMs = STOP_LIMIT_MS + drainMs;
  const limit = new Promise<"limit">((resolve) => {
    setTimeout(() => {
      resolve("limit");
    }, limitMs - MARGIN_MS).unref();
  });
  const outcome = await Promise.race([running.stop(), limit]);
  if (outcome !== "limit") {
    logger.info("Stopped");
    return code;
  }
  logger.error(`Not stopped within ${limitMs} ms: exiting`);
  return ExitCode.stopTimeout;
}

/** Resolves with the exit code when a signal has been received. */
function listen(logger: Logger, ending: AbortController): Promise<ExitCode> {
  return new Promise((resolve) => {
    const onSignal = (signal: StopSignal) => {
      if (ending.signal.aborted) process.exit(codeOfSecond[signal]);
      logger.info(`${signal} received, stopping`);
      ending.abort();
      resolve(ExitCode.ok);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
      // The failed operation is abandoned; others continue until file descriptors
      // become available again.
      if (error.code === "EMFILE" || error.code === "ENFILE") {
        logger.error("too many open files", { error });
        return;
      }
      // The state of the process is undefined: stop, so that the supervisor restarts it.
      logger.error("uncaught exception, stopping", { error });
      if (ending.signal.aborted) return;
      ending.abort();
      resolve(ExitCode.internal);
    });
    process.on("unhandledRejection", (error) => {
      // One call failed without a handler; other pools are not affected.
      logger.error("unhandled rejection", { error });
    });
  });
}
