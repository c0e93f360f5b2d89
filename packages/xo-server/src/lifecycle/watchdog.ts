import { url as inspectorUrl } from "node:inspector";
import { Worker } from "node:worker_threads";
import { ExitCode } from "./exit-code.js";
import { DEBUGGER, HEARTBEAT } from "./heartbeat.js";
import type { LogFormat, LogLevel } from "../log/logger.js";

interface WatchdogOptions {
  /** Time for which the event loop may be blocked until the process is ended, in ms. */
  readonly timeoutMs: number;
  /** The worker has its own logger, because that of the main thread needs its event loop. */
  readonly log: { readonly format: LogFormat; readonly level: LogLevel };
}

export interface Watchdog {
  stop(): Promise<void>;
}

/** What the worker is started with. */
export interface WatchdogWorkerData extends WatchdogOptions {
  /** Shared memory; see `HEARTBEAT` and `DEBUGGER`. */
  readonly state: Int32Array<SharedArrayBuffer>;
  /** Interval of heartbeats and of the checks of the worker, in ms. */
  readonly tickMs: number;
  readonly exitCode: number;
}

/** Heartbeats per timeout. */
const TICKS = 12;

/**
 * Starts a worker thread that ends the process when the event loop is blocked:
 * timers, signals and health checks of the main thread cannot detect that. While
 * the inspector is open the process is not ended, because a debugger may have
 * paused the main thread.
 */
export function startWatchdog({ timeoutMs, log }: WatchdogOptions): Watchdog {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const tickMs = Math.ceil(timeoutMs / TICKS);
  const heartbeat = () => {
    Atomics.store(state, DEBUGGER, inspectorUrl() === undefined ? 0 : 1);
    Atomics.add(state, HEARTBEAT, 1);
  };
  heartbeat();
  const timer = setInterval(heartbeat, tickMs);
  timer.unref();
  const workerData: WatchdogWorkerData = {
    timeoutMs,
    log,
    state,
    tickMs,
    exitCode: ExitCode.blocked,
  };
  const worker = new Worker(new URL("./watchdog-worker.js", import.meta.url), {
    workerData,
    // Options of the main thread, such as loaders, are not needed in the worker.
    execArgv: [],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  // The server also runs without the watchdog; an error event without a listener
  // would end the process.
  worker.on("error", () => undefined);
  worker.unref();
  return {
    async stop() {
      clearInterval(timer);
      await worker.terminate();
    },
  };
}
