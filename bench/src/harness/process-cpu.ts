import { readFileSync } from "node:fs";

/**
 * CPU time that a process has used so far, in ms; NaN where the system does not report it. From
 * /proc: user and system time in ticks of 10 ms (USER_HZ is 100 on all Linux ports of Node).
 */
export function processCpuMs(pid: number): number {
  return cpuMsOf(`/proc/${pid}/stat`);
}

/** The same of its main thread alone. */
export function threadCpuMs(pid: number): number {
  return cpuMsOf(`/proc/${pid}/task/${pid}/stat`);
}

function cpuMsOf(path: string): number {
  try {
    const stat = readFileSync(path, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    // Not Linux, or the process has ended.
    return Number.NaN;
  }
}
