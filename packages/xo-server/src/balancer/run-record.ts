import type { Action, BalancePlan, HostFigures } from "@xo-server/placement";
import type { Policy } from "./policy.js";

/**
 * planned: part of a dry run. waiting: not started yet. skipped: will not be started. interrupted: in progress when
 * its server ended, and its outcome is not known.
 */
export type MoveStatus =
  | "planned"
  | "waiting"
  | "migrating"
  | "done"
  | "failed"
  | "skipped"
  | "interrupted";

export interface MoveRecord extends Pick<Action, "purpose" | "score"> {
  readonly vm: string;
  readonly vmName: string;
  readonly from: string;
  readonly fromName: string;
  readonly to: string;
  readonly toName: string;
  readonly status: MoveStatus;
  /** ms since the epoch. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** Why the migration failed, or why it alone was skipped (VM_CHANGED). */
  readonly error?: { readonly code: string; readonly message: string };
}

/** What triggered the run. */
interface RunBy {
  /** automatic: the balancer itself. */
  readonly cause: "automatic" | "manual";
  readonly userId: string;
  readonly userName: string;
}

/** The stored part of a run. */
export interface RunRecord {
  readonly by: RunBy;
  readonly goal: Policy["goal"];
  readonly stopped: BalancePlan["stopped"];
  readonly moves: readonly MoveRecord[];
  readonly figuresBefore: readonly HostFigures[];
  /** As planned. */
  readonly figuresAfter: readonly HostFigures[];
  /** As measured after the run. */
  readonly figuresMeasured?: readonly HostFigures[];
  /** Gain of the plan, see gainOf. */
  readonly gain: number;
  readonly emptied: readonly string[];
  /** Why the run did not complete. */
  readonly reason?: { readonly code: string; readonly message: string };
}

/** Maximum number of hosts in a record, to limit its size. */
const MAX_HOSTS = 256;

/**
 * Decrease of the sum of squared shares in use over all hosts, of CPU or
 * memory, whichever is larger; plus 1 for each evacuated host.
 */
function gainOf({
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
  return figures.reduce((total, one) => total + (one[share] ?? 0) ** 2, 0);
}

/** @param nameOf name of a VM or host by its id */
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
    figuresBefore: figuresBefore.slice(0, MAX_HOSTS),
    figuresAfter: figuresAfter.slice(0, MAX_HOSTS),
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
