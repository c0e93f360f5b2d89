import { openSync, readSync } from "node:fs";

/**
 * Creates a function that returns how long the main thread has been ready to run without a
 * core, in ms since its start: the cost of other processes on the machine. Always 0 where
 * the system does not report it.
 */
export function createCoreWaitReader(): () => number {
  let file: number;
  try {
    // "run wait slices", in ns; of the main thread, whichever thread reads it.
    file = openSync("/proc/self/schedstat", "r");
  } catch {
    return () => 0;
  }
  const buffer = Buffer.alloc(128);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const [, wait = "0"] = buffer.toString("latin1", 0, length).split(" ");
    return Number(wait) / 1e6;
  };
}
