import { XoError } from "@xo-server/model";
import type { PlanStep } from "./plan-step.js";
import { runPlan, type PlanOutcome, type RunPlanOptions } from "./run-plan.js";

/** Steps that are named in an answer. */
const MOST_TOLD = 1_000;

/** What was done, and what not. */
export interface ToldOutcome extends Omit<PlanOutcome, "isAborted"> {
  readonly done: readonly PlanStep[];
}

/**
 * Does a plan, or says how far it came.
 * @throws XoError INVALID_PARAMETERS: a step waits for one that does not come
 *   before it; STOPPED_MIDWAY, ABORTED: with `done`, `failed` and `left`
 */
export async function applyPlan(
  steps: readonly PlanStep[],
  options: RunPlanOptions,
): Promise<ToldOutcome> {
  for (const [index, { after = [] }] of steps.entries())
    for (const other of after) if (other >= index) throw outOfOrder(index);
  const { isAborted, ...outcome } = await runPlan(steps, options);
  const told = toTold(outcome);
  const [first] = outcome.failed;
  if (isAborted) throw new XoError("ABORTED", { what: "the plan", ...told });
  if (first === undefined) return told;
  const { step, error } = first;
  const where = `${step.kind} of ${step.vm}`;
  const reason = error.message;
  const data = { what: "the plan", where, reason, ...told };
  throw new XoError("STOPPED_MIDWAY", { ...data, cause: error });
}

function outOfOrder(index: number): XoError {
  const reason = `action ${index} waits for one that does not come before it`;
  return new XoError("INVALID_PARAMETERS", { reason });
}

function toTold({ done, failed, left }: ToldOutcome): ToldOutcome {
  const bare = ({ kind, vm, from, to }: PlanStep): PlanStep => ({
    kind,
    vm,
    to,
    ...(from === undefined ? {} : { from }),
  });
  return {
    done: done.slice(0, MOST_TOLD).map(bare),
    failed: failed.map(({ step, error }) => ({ step: bare(step), error })),
    left: left.slice(0, MOST_TOLD).map(bare),
  };
}
