import { readFileSync } from "node:fs";

/**
 * CPU time that a process has used so far, in ms; NaN where the system does not tell.
 * From /proc: user and system time in ticks of 10 ms (USER_HZ is 100 on all Linux ports that Node runs on).
 */
export function processCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
