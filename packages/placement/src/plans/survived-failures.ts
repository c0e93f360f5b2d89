import { Assignment } from "../assignment/assignment.js";
import type { Survival } from "../model/survival.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { countFailures } from "../survival/count-failures.js";
import { toFailureModel } from "../survival/failure-model.js";
import { toWorstSet } from "../survival/worst-set.js";
import type { PlanOptions } from "./options.js";

export interface SurvivalOptions extends PlanOptions {
  /** Maximum number of failures to examine. Absent: the number of hosts. */
  readonly maxFailures?: number;
}

/**
 * How many hosts can fail at the same time, for any choice of hosts, with all
 * VMs of priority `restart` restarted on the others. Hosts that are down are
 * not counted; disabled hosts can fail.
 */
export function survivedFailures(
  pool: IndexedPool,
  options: SurvivalOptions = {},
): Survival {
  const fleet = toFailureModel(Assignment.current(pool, options));
  const hosts = fleet.alive.length;
  const most = Math.min(options.maxFailures ?? hosts, hosts);
  const { steps, failing } = countFailures(fleet, most, options.budget);
  const failures = steps.findIndex(({ holds }) => holds !== "yes");
  const survived = failures < 0 ? steps.length : failures;
  const atMost = failing === undefined ? hosts : failing.length - 1;
  return {
    failures: survived,
    atMost,
    isExact: survived === atMost,
    steps,
    ...(failing && { worst: toWorstSet(fleet, failing, options) }),
  };
}
