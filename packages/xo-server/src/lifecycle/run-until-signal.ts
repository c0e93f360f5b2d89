import { ExitCode } from "./exit-code.js";
import type { Logger } from "../log/logger.js";

/** From the first signal to the end of the process. */
const STOP_LIMIT_MS = 5000;
/** What is left of it for the last log lines. */
const MARGIN_MS = 300;

const codeOfSecond = {
  SIGTERM: ExitCode.terminated,
  SIGINT: ExitCode.interrupted,
} as const;
type StopSignal = keyof typeof codeOfSecond;

/** What has been started; `stop` undoes it. */
export interface Running {
  stop(): Promise<void>;
}

/**
 * Starts, waits for SIGTERM or SIGINT, stops. A stop that takes longer than 5 s
 * is given up; a second signal ends the process at once.
 * @throws what `start` throws, after it has undone what it did
 */
export async function runUntilSignal(
  logger: Logger,
  start: (signal: AbortSignal) => Promise<Running>,
): Promise<ExitCode> {
  const ending = new AbortController();
  const ended = listen(logger, ending);
  let running: Running;
  try {
    running = await start(ending.signal);
  } catch (error) {
    // Asked to end while starting: what was half started has been undone.
    if (!ending.signal.aborted) throw error;
    logger.info("Stopped");
    return ended;
  }
  const code = await ended;
  const limit = new Promise<"limit">((resolve) => {
    setTimeout(() => {
      resolve("limit");
    }, STOP_LIMIT_MS - MARGIN_MS).unref();
  });
  const outcome = await Promise.race([running.stop(), limit]);
  if (outcome !== "limit") {
    logger.info("Stopped");
    return code;
  }
  logger.error(`Not stopped within ${STOP_LIMIT_MS} ms, ending anyway`);
  return ExitCode.stopTimeout;
}

/** Resolves with the code to end with once the end has been asked for. */
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
    process.on("uncaughtException", (error) => {
      // Nobody knows what was left half done: stop what can be stopped, and let the supervisor start anew.
      logger.error("uncaught exception, stopping", { error });
      if (ending.signal.aborted) return;
      ending.abort();
      resolve(ExitCode.internal);
    });
    process.on("unhandledRejection", (error) => {
      // A promise nobody waited for: one call failed, the other pools go on.
      logger.error("unhandled rejection", { error });
    });
  });
}
