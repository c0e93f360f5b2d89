import type { BalancerRun } from "@xo-server/store";
import { movesOf } from "./interrupted-runs.js";
import { recordOf } from "./stored-json.js";
import { isVisible, type MaySee } from "./visible-vms.js";
import { stopMessage } from "./public-reason.js";
import { stopOf } from "./recent-runs.js";
import type { MoveRecord, RunRecord } from "./run-record.js";

/**
 * A run as clients see it. Times are ms since the epoch. `gain`, `stopped` and
 * `figuresAfter` only exist for complete and dry runs, because they are results of
 * the plan, not of a run that has not executed it.
 */
interface PublicRun
  extends
    Omit<RunRecord, "gain" | "stopped" | "figuresAfter">,
    Partial<Pick<RunRecord, "gain" | "stopped" | "figuresAfter">> {
  /** As planned, whether the run was complete or not. */
  readonly figuresPlanned: RunRecord["figuresAfter"];
  readonly gainPlanned: number;
  readonly id: string;
  readonly pool: string;
  readonly status: BalancerRun["status"];
  readonly start: number;
  readonly end?: number;
  readonly taskId?: string;
  /** Number of migrations of VMs that the caller may not read. */
  readonly hidden: number;
}

/** @param maySee migrations of other VMs are left out and counted */
export function toPublicRun(run: BalancerRun, maySee: MaySee): PublicRun {
  const { id, pool, status, startedAt, endedAt, taskId } = run;
  const { gain, stopped, figuresAfter, reason, ...record } = {
    ...recordOf(run),
    moves: movesOf(run),
  };
  const isComplete = status === "success" || status === "dry-run";
  const stop = stopOf(run);
  const isSeen = ({ vm }: MoveRecord) => isVisible(vm, maySee);
  const moves = record.moves.filter(isSeen);
  return {
    ...record,
    ...(isComplete ? { gain, stopped, figuresAfter } : {}),
    ...(reason === undefined
      ? {}
      : {
          reason:
            stop === undefined
              ? reason
              : { ...reason, message: stopMessage(stop, maySee) },
        }),
    figuresPlanned: figuresAfter,
    gainPlanned: gain,
    id,
    pool,
    status,
    start: startedAt,
    moves,
    ...(endedAt === undefined ? {} : { end: endedAt }),
    ...(taskId === undefined ? {} : { taskId }),
    hidden: record.moves.length - moves.length,
  };
}
