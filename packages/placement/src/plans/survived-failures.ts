import { Layout } from "../layout/layout.js";
import type { Survival, SurvivalStep } from "../model/survival.js";
import { DOWN, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";
import { failover } from "./plan-failover.js";

export interface SurvivalOptions extends PlanOptions {
  /** More failures than so many are not looked at. Absent: as many as there are hosts. */
  readonly most?: number;
}

/** How many hosts, whichever they are, may die at the same time. Hosts that are down already do not count. */
export function survivedFailures(
  pool: IndexedPool,
  options: SurvivalOptions = {},
): Survival {
  const now = Layout.now(pool, options);
  const alive = [...pool.hosts.ids.keys()].filter(
    (host) => pool.hostState[host] !== DOWN,
  );
  const most = Math.min(options.most ?? alive.length, alive.length);
  const steps: SurvivalStep[] = [];
  for (let failures = 1; failures <= most; failures++) {
    let sets = 0;
    for (const set of setsOf(alive, failures)) {
      sets++;
      const plan = failover(now, set, options);
      if (plan.survives) continue;
      steps.push({ failures, holds: "no", by: "one", sets });
      const { failed: hosts, unplaced, conflict } = plan;
      const worst = { hosts, unplaced: unplaced.map(({ vm }) => vm) };
      return {
        ...{ failures: failures - 1, atMost: failures - 1, isExact: true },
        ...{ steps, worst: { ...worst, ...(conflict && { conflict }) } },
      };
    }
    steps.push({ failures, holds: "yes", by: "sets", sets });
  }
  const isExact = most === alive.length;
  return { failures: most, atMost: alive.length, isExact, steps };
}

/** All sets of so many, in the order of the numbers. */
function* setsOf(
  from: readonly number[],
  size: number,
  first = 0,
): Generator<number[]> {
  if (size === 0) yield [];
  for (let at = first; at <= from.length - size && size > 0; at++)
    for (const rest of setsOf(from, size - 1, at + 1))
      yield [from[at]!, ...rest];
}
