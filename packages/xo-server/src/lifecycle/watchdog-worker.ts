import { write } from "node:fs";
import { Session } from "node:inspector";
import { setTimeout as pause } from "node:timers/promises";
import { workerData } from "node:worker_threads";
import { DEBUGGER, HEARTBEAT } from "./heartbeat.js";
import type { WatchdogWorkerData } from "./watchdog.js";

const { state, tickMs, timeoutMs, exitCode, log } =
  workerData as WatchdogWorkerData;

/** Maximum time for the stack, and for the exit, in ms each. */
const STEP_LIMIT_MS = 3_000;

/** Maximum time for the log line, in ms: its logger is loaded then, which takes seconds on a busy machine. */
const LOG_LIMIT_MS = 15_000;

const SAMPLES = 10;
const SAMPLE_INTERVAL_MS = 10;
const MAX_FRAMES = 50;

let lastHeartbeat = -1;
let missed = 0;

// Counts ticks instead of comparing times: a process that was stopped (SIGSTOP,
// a paused VM) has missed no heartbeat when it continues.
setInterval(() => {
  const heartbeat = Atomics.load(state, HEARTBEAT);
  const isIdle =
    heartbeat !== lastHeartbeat || Atomics.load(state, DEBUGGER) === 1;
  lastHeartbeat = heartbeat;
  missed = isIdle ? 0 : missed + 1;
  if (missed * tickMs >= timeoutMs) {
    missed = -Infinity;
    void endProcess();
  }
}, tickMs);

/** Logs the stack of the main thread, and ends the process. */
async function endProcess(): Promise<void> {
  const session = new Session();
  session.connectToMainThread();
  const stacks = new Set<string>();
  await Promise.race([sampleStacks(session, stacks), pause(STEP_LIMIT_MS)]);
  if (stacks.size === 0)
    stacks.add("unknown: the main thread executes no JavaScript");
  const reason = `the event loop has been blocked for ${timeoutMs} ms, ending the process`;
  // A failure, such as too many open files, must not keep the process alive.
  const logged = logError(reason, [...stacks]).catch(() => undefined);
  await Promise.race([logged, pause(LOG_LIMIT_MS)]);
  // Only the main thread can end the process with an exit code.
  session.post("Runtime.evaluate", {
    expression: `process.reallyExit(${exitCode})`,
  });
  await pause(STEP_LIMIT_MS);
  // The main thread executes no JavaScript: it is in a synchronous system call.
  process.kill(process.pid, "SIGKILL");
}

/**
 * Pauses the main thread several times: a single sample of a loop of microtasks
 * may show the queue instead of the function.
 * Pending while the main thread executes no JavaScript.
 */
async function sampleStacks(
  session: Session,
  stacks: Set<string>,
): Promise<void> {
  session.post("Debugger.enable");
  for (let sample = 0; sample < SAMPLES; sample++) {
    stacks.add(await pauseMainThread(session));
    await pause(SAMPLE_INTERVAL_MS);
  }
}

function pauseMainThread(session: Session): Promise<string> {
  return new Promise((resolve) => {
    session.once("Debugger.paused", ({ params: { callFrames } }) => {
      const expression = `Error.stackTraceLimit = ${MAX_FRAMES}; new Error().stack`;
      session.post(
        "Debugger.evaluateOnCallFrame",
        { callFrameId: callFrames[0]!.callFrameId, expression },
        (
          _error,
          answer?: { readonly result: { readonly value?: unknown } },
        ) => {
          // Before this event a pause would be ignored.
          session.once("Debugger.resumed", () => {
            resolve(toFrames(String(answer?.result.value)));
          });
          session.post("Debugger.resume");
        },
      );
    });
    session.post("Debugger.pause");
  });
}

/** Converts a stack to frames, without the message and the frame of the evaluated expression. */
function toFrames(stack: string): string {
  const lines = stack.split("\n").map((line) => line.trim());
  return lines.filter((line) => /^at (?!eval )/.test(line)).join("\n");
}

/** Resolves when the line is written; a pipe that is not read may block forever. */
async function logError(
  reason: string,
  stacks: readonly string[],
): Promise<void> {
  if (log.level === "silent") return;
  // Loaded on demand: the thread stays small.
  const { createLoggers } = await import("../log/logger.js");
  await new Promise<void>((resolve) => {
    const destination = {
      write: (text: string) => {
        write(1, text, () => {
          resolve();
        });
      },
    };
    const loggers = createLoggers({ ...log, destination });
    loggers.named("xo:watchdog").error(reason, { stacks });
  });
}
