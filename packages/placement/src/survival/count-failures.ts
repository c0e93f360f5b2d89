import type { SurvivalStep } from "../model/survival.js";
import { VolumeBound } from "./bound.js";
import { findWorse } from "./dominance.js";
import type { Fleet } from "./fleet.js";
import { Judge } from "./judge.js";
import { countSets, setsOf } from "./sets.js";
import { suspects } from "./suspects.js";

/** So many sets are judged for one number of failures, or else another proof is needed. */
const MOST_SETS = 50_000;
/** Looks at a VM on a host, over all sets. */
const MOST_LOOKS = 1e9;
/** Once one number is not decided, sets of so many VMs at most are planned. */
const MOST_VMS = 5_000;

export interface Counted {
  readonly steps: readonly SurvivalStep[];
  /** A set that is not survived, proven. */
  readonly failing?: readonly number[];
}

/** Decides one number of failures after the other, until one is not survived or `most` is reached. */
export function countFailures(
  fleet: Fleet,
  most: number,
  budget: number | undefined,
): Counted {
  const judge = new Judge(fleet, budget);
  const worse = findWorse(fleet);
  const bound = new VolumeBound(fleet);
  const steps: SurvivalStep[] = [];
  for (let failures = 1; failures <= most; failures++) {
    const { step, failing } = decide({ fleet, judge, bound, worse, failures });
    steps.push(step);
    if (failing) return { steps, failing };
    if (step.holds === "unknown")
      return lookBeyond({ fleet, judge, most, steps });
  }
  return { steps };
}

interface Decided {
  readonly step: SurvivalStep;
  readonly failing?: readonly number[];
}

interface Question {
  readonly fleet: Fleet;
  readonly judge: Judge;
  readonly bound: VolumeBound;
  readonly worse: readonly (readonly number[])[];
  readonly failures: number;
}

function decide(question: Question): Decided {
  const { fleet, judge, bound, failures } = question;
  if (bound.holds(failures))
    return { step: { failures, holds: "yes", by: "bound", sets: 0 } };
  const likely = suspects(fleet, failures);
  for (const [before, set] of likely.entries())
    if (judge.judge(set) === "fails") return toFailing(set, before + 1);
  return judgeAll(question);
}

function toFailing(failing: readonly number[], sets: number): Decided {
  const failures = failing.length;
  return { step: { failures, holds: "no", by: "one", sets }, failing };
}

function judgeAll({ fleet, judge, worse, failures }: Question): Decided {
  const all = () => setsOf(fleet.alive, failures, worse);
  const unknown = { failures, holds: "unknown", by: "budget" } as const;
  if (countSets(all(), MOST_SETS) > MOST_SETS)
    return { step: { ...unknown, sets: 0 } };
  let isCertain = true;
  let sets = 0;
  for (const set of all()) {
    if (judge.looks > MOST_LOOKS || judge.isSpent)
      return { step: { ...unknown, sets } };
    sets++;
    const verdict = judge.judge(set);
    if (verdict === "fails") return toFailing(set, sets);
    isCertain &&= verdict === "survives";
  }
  return isCertain
    ? { step: { failures, holds: "yes", by: "sets", sets } }
    : { step: { ...unknown, sets } };
}

interface Beyond {
  readonly fleet: Fleet;
  readonly judge: Judge;
  readonly most: number;
  readonly steps: readonly SurvivalStep[];
}

/** From a number on that is not decided: some set, as small as can be found, that is not survived. */
function lookBeyond({ fleet, judge, most, steps }: Beyond): Counted {
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
    const found = findFailing(fleet, judge, failures);
    if (found === undefined) low = failures;
    else {
      failing = found;
      high = failures;
    }
  }
  const open = Array.from({ length: high - 1 - known }, (_, at) => ({
    failures: known + 1 + at,
    sets: 0,
    ...({ holds: "unknown", by: "budget" } as const),
  }));
  if (failing === undefined) return { steps: [...steps, ...open] };
  const last = { failures: high, holds: "no", by: "one", sets: 1 } as const;
  return { steps: [...steps, ...open, last], failing };
}

function findFailing(
  fleet: Fleet,
  judge: Judge,
  failures: number,
): readonly number[] | undefined {
  return suspects(fleet, failures).find((set) => {
    if (judge.lacksMemory(set)) return true;
    const vms = set.reduce((sum, host) => sum + fleet.fallen[host]!.length, 0);
    return vms <= MOST_VMS && judge.judge(set) === "fails";
  });
}
