import { setImmediate } from "node:timers/promises";
import type { Database } from "../../database.js";
import { XapiFailure } from "../../xapi-failure.js";
import { FailoverModel } from "./failover-model.js";
import { flag, int } from "../../records/fields.js";

/**
 * The hosts on which VMs of failed hosts would be restarted (`vms`; absent: the protected ones that
 * run there): the largest first, each on a surviving host that reaches its disks and
 * networks and has fewest of its anti-affinity group, then most memory left.
 * @returns undefined if a VM fits on no host
 */
export function failoverPlan(
  db: Database,
  failed: readonly string[],
  vms?: readonly string[],
): ReadonlyMap<string, string> | undefined {
  return new FailoverModel(db).plan(failed, vms);
}

/** Number of hosts that can fail, whichever they are: calculated with the hosts that have the most protected memory. */
export function mostFailures(db: Database): number {
  const search = searchMostFailures(db);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
  }
}

/** Like `mostFailures`; other requests are served between its plans. */
export async function mostFailuresSliced(db: Database): Promise<number> {
  const search = searchMostFailures(db);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
    await setImmediate();
  }
}

/** A binary search: log2(hosts) plans. Yields before each plan. */
function* searchMostFailures(db: Database): Generator<void, number, void> {
  const model = new FailoverModel(db);
  const hosts = model.worstHosts();
  let holds = 0;
  let fails = Math.max(1, hosts.length);
  while (fails - holds > 1) {
    yield;
    const middle = (holds + fails) >> 1;
    if (model.plan(hosts.slice(0, middle)) === undefined) fails = middle;
    else holds = middle;
  }
  return holds;
}

/** @throws XapiFailure HA_OPERATION_WOULD_BREAK_FAILOVER_PLAN if fewer failures are tolerated than HA promises */
export function assertPlanHolds(db: Database): void {
  const [, pool] = [...db.records("pool")][0]!;
  if (!flag(pool, "ha_enabled") || flag(pool, "ha_allow_overcommit")) return;
  if (mostFailures(db) < int(pool, "ha_host_failures_to_tolerate"))
    throw new XapiFailure("HA_OPERATION_WOULD_BREAK_FAILOVER_PLAN");
}
