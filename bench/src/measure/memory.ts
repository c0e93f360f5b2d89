import { readFileSync, writeFileSync } from "node:fs";

/**
 * The highest resident size of this process in bytes. Linux reports it per
 * program (VmHWM); getrusage's maxRSS also counts what the parent process had
 * when it forked, and is the answer elsewhere only.
 */
export function peakRssBytes(): number {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    const match = /^VmHWM:\s+(\d+) kB$/m.exec(status);
    if (match !== null) return Number(match[1]) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}

/** Resets the peak, so that the start of Node.js is not measured; without effect where the system cannot. */
export function resetPeakRss(): void {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Not Linux, or not allowed: the peak then includes the start.
  }
}

/**
 * Collects garbage until the heap no longer shrinks. Needs --expose-gc.
 * @throws Error when node was started without it
 */
export async function collectGarbage(): Promise<void> {
  if (globalThis.gc === undefined)
    throw new Error("start node with --expose-gc");
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    // Buffers are freed in tasks behind the collection.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
