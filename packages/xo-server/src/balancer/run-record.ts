import type { Action, BalancePlan, HostFigures } from "@xo-server/placement";
import type { BalancerRun } from "@xo-server/store";
import type { Policy } from "./policy.js";

/** waiting: not begun. left: it never was. planned: of a dry run. */
export type MoveStatus =
  "planned" | "waiting" | "moving" | "done" | "failed" | "left";

export interface MoveRecord extends Pick<Action, "purpose" | "score"> {
  readonly vm: string;
  readonly vmName: string;
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly toName: string;
  readonly status: MoveStatus;
  /** ms since the epoch. */
  readonly begunAt?: number;
  readonly endedAt?: number;
  /** Why it failed, or was left. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** Who wanted it. */
export interface RunBy {
  /** automatic: the balancer did, by itself. */
  readonly cause: "automatic" | "manual";
  readonly userId: string;
  readonly userName: string;
}

/** What is kept of a run. */
export interface RunRecord {
  readonly by: RunBy;
  readonly goal: Policy["goal"];
  readonly stopped: BalancePlan["stopped"];
  readonly moves: readonly MoveRecord[];
  readonly figuresBefore: readonly HostFigures[];
  /** As planned. */
  readonly figuresAfter: readonly HostFigures[];
  /** As they were found when all of what is measured was of after the moves. */
  readonly figuresMeasured?: readonly HostFigures[];
  /** As planned: see gainOf. */
  readonly gain: number;
  readonly emptied: readonly string[];
  /** Why it did not come to its end, or is not begun. */
  readonly reason?: { readonly code: string; readonly message: string };
}

/** Hosts beyond these are not told of: a record has its bounds. */
const MOST_HOSTS = 256;

/** The fall of the sum of squares of the shares in use, over hosts, of CPU and of memory, whichever falls more; and 1 for each host that is emptied. */
export function gainOf({
  figuresBefore,
  figuresAfter,
  emptied,
}: Pick<BalancePlan, "figuresBefore" | "figuresAfter" | "emptied">): number {
  const fall = (share: "cpu" | "memory") =>
    sum(figuresBefore, share) - sum(figuresAfter, share);
  const gain = Math.max(fall("cpu"), fall("memory")) + emptied.length;
  return Math.round(gain * 10_000) / 10_000;
}

function sum(figures: readonly HostFigures[], share: "cpu" | "memory") {
  return figures.reduce((total, one) => total + one[share] ** 2, 0);
}

/** @param nameOf of a VM or host, by its id */
export function toRecord(
  plan: BalancePlan,
  about: Pick<RunRecord, "by" | "goal"> & { readonly isDry: boolean },
  nameOf: (id: string) => string,
): RunRecord {
  const { figuresBefore, figuresAfter, emptied, stopped } = plan;
  const { by, goal, isDry } = about;
  return {
    by,
    goal,
    stopped,
    emptied,
    gain: gainOf(plan),
    figuresBefore: figuresBefore.slice(0, MOST_HOSTS),
    figuresAfter: figuresAfter.slice(0, MOST_HOSTS),
    moves: plan.actions.map((action) => ({
      vm: action.vm,
      vmName: nameOf(action.vm),
      from: action.from ?? "",
      fromName: nameOf(action.from ?? ""),
      to: action.to,
      toName: nameOf(action.to),
      purpose: action.purpose,
      score: action.score,
      status: isDry ? "planned" : "waiting",
    })),
  };
}

export function recordOf(run: BalancerRun): RunRecord {
  return run.body as RunRecord;
}
