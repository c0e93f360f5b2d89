import { Layout } from "../layout/layout.js";
import type { Survival } from "../model/survival.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { countFailures } from "../survival/count-failures.js";
import { toFleet } from "../survival/fleet.js";
import { toWorst } from "../survival/worst.js";
import type { PlanOptions } from "./options.js";

export interface SurvivalOptions extends PlanOptions {
  /** More failures than so many are not looked at. Absent: as many as there are hosts. */
  readonly most?: number;
}

/**
 * How many hosts, whichever they are, may die at the same time, with all VMs
 * of priority "restart" started anew on those that are left. Hosts that are
 * down already do not count; those that are disabled may die as well.
 */
export function survivedFailures(
  pool: IndexedPool,
  options: SurvivalOptions = {},
): Survival {
  const fleet = toFleet(Layout.now(pool, options));
  const hosts = fleet.alive.length;
  const most = Math.min(options.most ?? hosts, hosts);
  const { steps, failing } = countFailures(fleet, most, options.budget);
  const failures = steps.findIndex(({ holds }) => holds !== "yes");
  const survived = failures < 0 ? steps.length : failures;
  const atMost = failing === undefined ? hosts : failing.length - 1;
  return {
    failures: survived,
    atMost,
    isExact: survived === atMost,
    steps,
    ...(failing && { worst: toWorst(fleet, failing, options) }),
  };
}
