import type { OverloadedHost, StayingVm } from "../model/balance.js";
import { countRefusals } from "../place/unplaced.js";
import { UP } from "../pool/indexed-pool.js";
import { unitWith } from "../repair/units.js";
import { rulesFor } from "../rules/host-rules.js";
import type { BalanceSearch } from "./balance-search.js";
import { Overload } from "./overload.js";
import { demandOf } from "./thresholds.js";

/** Limits of the explanation: the most loaded hosts, and their busiest VMs. */
const MAX_HOSTS = 8;
const MAX_VMS = 5;

/**
 * Explains hosts that stay overloaded: why each of their VMs with the highest
 * demand stays.
 * @param search whose assignment is the result of planning
 */
export function explainOverload(
  search: BalanceSearch,
): readonly OverloadedHost[] {
  const { assignment, thresholds } = search;
  const { pool } = assignment;
  const overload = new Overload(pool.hosts.size, thresholds);
  return [...overload.hosts]
    .sort((a, b) => overload.severityOf(b) - overload.severityOf(a) || a - b)
    .slice(0, MAX_HOSTS)
    .map((host) => ({
      host: pool.hosts.ids[host]!,
      cpu: thresholds.cpu(host),
      memory: thresholds.memory(host),
      vms: busiestOn(search, overload, host).map((vm) =>
        whyItStays(search, overload, vm),
      ),
    }));
}

function busiestOn(
  { assignment: { pool, hostOf } }: BalanceSearch,
  overload: Overload,
  host: number,
): readonly number[] {
  const { vmLoad, vmMemory } = pool;
  const demand = overload.isRelievedOfCpu(host) ? vmLoad : vmMemory;
  const vms: number[] = [];
  for (const [vm, on] of hostOf.entries()) if (on === host) vms.push(vm);
  return vms.sort((a, b) => demand[b]! - demand[a]! || a - b).slice(0, MAX_VMS);
}

function whyItStays(
  search: BalanceSearch,
  overload: Overload,
  vm: number,
): StayingVm {
  const { assignment, thresholds } = search;
  const { pool } = assignment;
  const of = { vm: pool.vms.ids[vm]! };
  const unit = unitWith(assignment, vm);
  for (const one of unit) {
    const pinned = pool.vmModels[one]!.pinned;
    if (pinned !== undefined) return { ...of, why: "pinned", reason: pinned };
    if (!search.mayMove(one)) return { ...of, why: "excluded" };
  }
  const from = assignment.hostOf[vm]!;
  const accepting = [...pool.hosts.ids.keys()].filter(
    (host) =>
      host !== from &&
      pool.hostState[host] === UP &&
      search.accepts(host, unit),
  );
  if (accepting.length === 0)
    return {
      ...of,
      why: "no-host",
      refusals: countRefusals(assignment, rulesFor(assignment), vm),
    };
  const amount = demandOf(pool, unit);
  const fitting = accepting.filter((host) =>
    thresholds.staysBelowLow(host, amount),
  );
  if (fitting.length === 0) return { ...of, why: "no-capacity" };
  const preferred = fitting.filter((host) =>
    search.keepsPreferences(host, unit),
  );
  if (preferred.length === 0) return { ...of, why: "preference" };
  const gain = Math.max(
    ...preferred.map((host) => overload.gain(from, host, amount)),
  );
  return { ...of, why: "cost", gain, cost: search.costOf(unit) };
}
