import { XoError } from "@xo-server/model";
import type { PlanStep } from "./plan-step.js";
import {
  executePlan,
  type PlanOutcome,
  type ExecutePlanOptions,
} from "./execute-plan.js";

/** Maximum number of steps per list of a result. */
const MAX_REPORTED = 1_000;

/** Outcome of a plan, as clients get it. */
type AppliedPlan = Omit<PlanOutcome, "isAborted">;

/**
 * Executes a plan.
 * @throws XoError INVALID_PARAMETERS: `after` of a step has an index that is not
 *   lower; STOPPED_MIDWAY, ABORTED: with `done`, `failed` and `skipped`
 */
export async function applyPlan(
  steps: readonly PlanStep[],
  options: ExecutePlanOptions,
): Promise<AppliedPlan> {
  for (const [index, { after = [] }] of steps.entries())
    for (const other of after) if (other >= index) throw outOfOrder(index);
  const { isAborted, ...outcome } = await executePlan(steps, options);
  const applied = toAppliedPlan(outcome);
  const [first] = outcome.failed;
  if (isAborted) throw new XoError("ABORTED", { what: "the plan", ...applied });
  if (first === undefined) return applied;
  const { step, error } = first;
  const where = `${step.kind} of ${step.vm}`;
  const reason = error.message;
  const data = { what: "the plan", where, reason, ...applied };
  throw new XoError("STOPPED_MIDWAY", { ...data, cause: error });
}

function outOfOrder(index: number): XoError {
  const reason = `action ${index}: "after" must contain lower indices only`;
  return new XoError("INVALID_PARAMETERS", { reason });
}

function toAppliedPlan({ done, failed, skipped }: AppliedPlan): AppliedPlan {
  const bare = ({ kind, vm, from, to }: PlanStep): PlanStep => ({
    kind,
    vm,
    to,
    ...(from === undefined ? {} : { from }),
  });
  return {
    done: done.slice(0, MAX_REPORTED).map(bare),
    failed: failed.map(({ step, error }) => ({ step: bare(step), error })),
    skipped: skipped.slice(0, MAX_REPORTED).map(bare),
  };
}
