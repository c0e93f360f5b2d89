import type { RollingState } from "../details/pool/rolling-plan.js";
import type { RollingJobRun } from "./rolling-job.js";

/** Progress of a run of a job in one pool. */
export interface PoolProgress {
  readonly state:
    | "notRun"
    | "waiting"
    | "running"
    | "suspended"
    | "stopped"
    | "done"
    | "failed"
    | "notBegun";
  /** Hosts, of a run in progress or one that stopped. */
  readonly completed?: number;
  readonly hosts?: number;
  /** Why it stopped or failed. */
  readonly reason?: string;
  /** Next maintenance window, in ms since the epoch. */
  readonly until?: number;
}

export const progressTones: Readonly<Record<PoolProgress["state"], string>> = {
  notRun: "",
  waiting: "",
  running: "busy",
  suspended: "warn",
  stopped: "bad",
  done: "good",
  failed: "bad",
  notBegun: "",
};

/**
 * @param run the last one of the job
 * @param state of the pool, undefined: not known
 */
export function progressOf(
  pool: string,
  run: RollingJobRun | undefined,
  state: RollingState | undefined,
): PoolProgress {
  if (run === undefined) return { state: "notRun" };
  const entry = run.pools?.find((one) => one.pool === pool);
  if (entry?.status === "success") return { state: "done" };
  const { current, last } = state ?? {};
  const isOver = run.end !== undefined;
  const isOfRun = current != null && (isOver || current.stopped === undefined);
  if (isOfRun) {
    const { stopped, suspension, completed, hosts } = current;
    const counts = { completed: completed.length, hosts: hosts.length };
    if (stopped !== undefined)
      return { state: "stopped", reason: stopped, ...counts };
    if (suspension === undefined) return { state: "running", ...counts };
    const { until } = suspension;
    const waits = until === undefined ? {} : { until };
    return { state: "suspended", ...counts, ...waits };
  }
  if (entry !== undefined)
    return { state: "failed", reason: entry.error?.message ?? "" };
  if (isOver) return { state: "notBegun" };
  const isDone = last != null && last.endedAt >= run.start;
  return { state: isDone && last.stopped === undefined ? "done" : "waiting" };
}
