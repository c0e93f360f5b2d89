import type { SurvivalStep } from "../model/survival.js";
import { VolumeBound } from "./volume-bound.js";
import { findDominating } from "./dominance.js";
import type { FailureModel } from "./failure-model.js";
import { FailureChecker } from "./failure-checker.js";
import { countSets, hostSets } from "./host-sets.js";
import { likelyFailingSets } from "./likely-failing-sets.js";

/** Maximum number of sets examined per number of failures. */
const MAX_SETS = 50_000;
/** Limit of checks of a VM on a host, over all sets. */
const MAX_CHECKS = 1e9;
/**
 * Maximum number of VMs of a set that is planned after a number of failures was
 * undecided.
 */
const MAX_VMS = 5_000;

interface FailureCount {
  readonly steps: readonly SurvivalStep[];
  /** A set of hosts whose failure is not survived, proven. */
  readonly failing?: readonly number[];
}

/**
 * Decides each number of failures in turn, until one is not survived or `most`
 * is reached.
 */
export function countFailures(
  model: FailureModel,
  most: number,
  budget: number | undefined,
): FailureCount {
  const checker = new FailureChecker(model, budget);
  const worse = findDominating(model);
  const bound = new VolumeBound(model);
  const steps: SurvivalStep[] = [];
  for (let failures = 1; failures <= most; failures++) {
    const { step, failing } = decide({
      model,
      checker,
      bound,
      worse,
      failures,
    });
    steps.push(step);
    if (failing) return { steps, failing };
    if (step.holds === "unknown")
      return findSmallestFailingSet({ model, checker, most, steps });
  }
  return { steps };
}

interface Decided {
  readonly step: SurvivalStep;
  readonly failing?: readonly number[];
}

interface Question {
  readonly model: FailureModel;
  readonly checker: FailureChecker;
  readonly bound: VolumeBound;
  readonly worse: readonly (readonly number[])[];
  readonly failures: number;
}

function decide(question: Question): Decided {
  const { model, checker, bound, failures } = question;
  if (bound.holds(failures))
    return { step: { failures, holds: "yes", by: "bound", sets: 0 } };
  const likely = likelyFailingSets(model, failures);
  for (const [before, set] of likely.entries())
    if (checker.check(set) === "fails") return toFailing(set, before + 1);
  return checkAllSets(question);
}

function toFailing(failing: readonly number[], sets: number): Decided {
  const failures = failing.length;
  return {
    step: { failures, holds: "no", by: "counterexample", sets },
    failing,
  };
}

function checkAllSets({ model, checker, worse, failures }: Question): Decided {
  const all = () => hostSets(model.alive, failures, worse);
  const unknown = { failures, holds: "unknown", by: "budget" } as const;
  if (countSets(all(), MAX_SETS) > MAX_SETS)
    return { step: { ...unknown, sets: 0 } };
  let isCertain = true;
  let sets = 0;
  for (const set of all()) {
    if (checker.checks > MAX_CHECKS || checker.isSpent)
      return { step: { ...unknown, sets } };
    sets++;
    const verdict = checker.check(set);
    if (verdict === "fails") return toFailing(set, sets);
    isCertain &&= verdict === "survives";
  }
  return isCertain
    ? { step: { failures, holds: "yes", by: "exhaustive", sets } }
    : { step: { ...unknown, sets } };
}

interface SearchInput {
  readonly model: FailureModel;
  readonly checker: FailureChecker;
  readonly most: number;
  readonly steps: readonly SurvivalStep[];
}

/**
 * After an undecided number: searches for a failing set that is as small as
 * possible.
 */
function findSmallestFailingSet({
  model,
  checker,
  most,
  steps,
}: SearchInput): FailureCount {
  const known = steps.length;
  let low = known;
  let high = most + 1;
  let failing: readonly number[] | undefined;
  for (let step = 1; high - low > 1;) {
    const failures =
      failing === undefined
        ? Math.min(low + step, high - 1)
        : (low + high) >> 1;
    step *= 2;
    const found = findFailing(model, checker, failures);
    if (found === undefined) low = failures;
    else {
      failing = found;
      high = failures;
    }
  }
  const open = Array.from(
    { length: high - 1 - known },
    (_, at): SurvivalStep => ({
      failures: known + 1 + at,
      sets: 0,
      holds: "unknown",
      by: "budget",
    }),
  );
  if (failing === undefined) return { steps: [...steps, ...open] };
  const last = {
    failures: high,
    holds: "no",
    by: "counterexample",
    sets: 1,
  } as const;
  return { steps: [...steps, ...open, last], failing };
}

function findFailing(
  model: FailureModel,
  checker: FailureChecker,
  failures: number,
): readonly number[] | undefined {
  return likelyFailingSets(model, failures).find((set) => {
    if (checker.lacksMemory(set)) return true;
    const vms = set.reduce(
      (sum, host) => sum + model.restarting[host]!.length,
      0,
    );
    return vms <= MAX_VMS && checker.check(set) === "fails";
  });
}
