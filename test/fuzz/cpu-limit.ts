import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";

const CHECK_MS = 500;
/** Clock ticks of Linux, in ms. */
const TICK_MS = 10;
/** A process that needs no CPU is ended after this multiple of the limit, not counting time that it waits for a CPU. */
const WALL_FACTOR = 10;

/** Ends a process that uses more CPU time than allowed, however busy the machine is. */
export class CpuLimit {
  readonly #child: ChildProcess;
  readonly #timer: NodeJS.Timeout;
  #limitMs: number;
  #cpuMs: number;
  #startedAt: number;

  /** @param limitMs CPU time until the next `restart`, in ms */
  constructor(child: ChildProcess, limitMs: number) {
    this.#child = child;
    this.#limitMs = limitMs;
    this.#cpuMs = cpuMsOf(child) ?? 0;
    this.#startedAt = readyMsOf(child);
    this.#timer = setInterval(() => {
      this.#check();
    }, CHECK_MS);
  }

  /** Counts from now on. */
  restart(limitMs: number): void {
    this.#limitMs = limitMs;
    this.#cpuMs = cpuMsOf(this.#child) ?? 0;
    this.#startedAt = readyMsOf(this.#child);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const wallMs = readyMsOf(this.#child) - this.#startedAt;
    const cpuMs = cpuMsOf(this.#child);
    // Without /proc, time is all that is known.
    const usedMs = cpuMs === undefined ? wallMs : cpuMs - this.#cpuMs;
    if (usedMs > this.#limitMs || wallMs > WALL_FACTOR * this.#limitMs)
      this.#child.kill("SIGKILL");
  }
}

/** CPU time of a process since its start, in ms; undefined: it has ended, or the system has no /proc. */
function cpuMsOf({ pid }: ChildProcess): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program, in parentheses, may contain blanks.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

/** The time in ms, without the time that the main thread of a process has waited for a CPU. */
function readyMsOf({ pid }: ChildProcess): number {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "utf8").split(
      " ",
    );
    return performance.now() - Number(waitedNs) / 1e6;
  } catch {
    // The process has ended, or the system has no such file.
    return performance.now();
  }
}
