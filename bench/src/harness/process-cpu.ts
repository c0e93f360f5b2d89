import { readdirSync, readFileSync } from "node:fs";

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

/** The same of a process and its children, those that have ended included. */
export function familyCpuMs(pid: number): number {
  const children = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && parentOf(name) === pid,
  );
  return children.reduce(
    (sum, child) => sum + (cpuMsOf(`/proc/${child}/stat`) || 0),
    cpuMsOf(`/proc/${pid}/stat`, [11, 12, 13, 14]),
  );
}

/** NaN: it has ended. */
function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return Number.NaN;
  }
}

/** @param times numbers of the fields, counted from the state of the process */
function cpuMsOf(path: string, times: readonly number[] = [11, 12]): number {
  try {
    const stat = readFileSync(path, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return times.reduce((sum, i) => sum + Number(fields[i]) * 10, 0);
  } catch {
    // Not Linux, or the process has ended.
    return Number.NaN;
  }
}
