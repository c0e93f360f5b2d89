import type { BalancePlan } from "../model/balance.js";
import { UP } from "../pool/indexed-pool.js";
import type { BalanceSearch } from "./balance-search.js";
import { demandOf } from "./thresholds.js";

/**
 * Number of consecutive hosts that cannot be evacuated after which the search
 * ends.
 */
const MAX_FAILURES = 16;

interface Target {
  readonly unit: readonly number[];
  readonly to: number;
}

/**
 * Evacuates the least used hosts, each completely or not at all, onto hosts
 * that run VMs and stay below the thresholds. Evacuating a host gains 1.
 * @param spared hosts that are not evacuated
 */
export function consolidateHosts(
  search: BalanceSearch,
  spared: ReadonlySet<number>,
): BalancePlan["stopped"] {
  let isOverLimit = false;
  for (let hasMoved = true; hasMoved;) {
    hasMoved = false;
    let failures = 0;
    for (const host of leastUsedHosts(search)) {
      if (spared.has(host)) continue;
      const targets = findTargets(search, host);
      const count = search.countOn(host);
      if (targets !== undefined && count <= search.movesLeft) {
        for (const { unit, to } of targets)
          search.move(unit, to, "consolidate");
        hasMoved = true;
        break;
      }
      isOverLimit ||= targets !== undefined;
      if (++failures >= MAX_FAILURES) break;
    }
  }
  return isOverLimit ? "max-migrations" : "balanced";
}

/** Hosts that run VMs, by ascending use. */
function leastUsedHosts(search: BalanceSearch): readonly number[] {
  const { assignment, thresholds } = search;
  const { pool } = assignment;
  return [...pool.hosts.ids.keys()]
    .filter(
      (host) =>
        pool.hostState[host] === UP &&
        thresholds.isMeasured(host) &&
        search.countOn(host) > 0,
    )
    .map((host) => ({
      host,
      share: Math.max(thresholds.cpu(host), thresholds.memory(host)),
    }))
    .sort((a, b) => a.share - b.share || a.host - b.host)
    .map(({ host }) => host);
}

/**
 * Targets for all VMs of a host; undefined: there are none, or the cost is too
 * high. The assignment is restored.
 */
function findTargets(
  search: BalanceSearch,
  host: number,
): readonly Target[] | undefined {
  const units = search.unitsOn(host);
  const vms = units.flat();
  if (vms.length < search.countOn(host) || search.costOf(vms) >= 1)
    return undefined;
  const { pool } = search.assignment;
  const sorted = units
    .map((unit) => ({ unit, memory: demandOf(pool, unit).memory }))
    .sort((a, b) => b.memory - a.memory || a.unit[0]! - b.unit[0]!);
  const others = leastUsedHosts(search)
    .filter((other) => other !== host)
    .reverse();
  const targets: Target[] = [];
  let preference = 0;
  for (const { unit } of sorted) {
    const found = fullestHost(search, unit, others);
    if (found === undefined) break;
    preference += found.gain;
    for (const vm of unit) moveTo(search, vm, found.to);
    targets.push({ unit, to: found.to });
  }
  for (const { unit } of targets)
    for (const vm of unit) moveTo(search, vm, host);
  return targets.length === units.length && preference >= 0
    ? targets
    : undefined;
}

/** Returns the fullest host; of equally full ones, the first with the highest preference gain. */
function fullestHost(
  search: BalanceSearch,
  unit: readonly number[],
  hosts: readonly number[],
): { readonly to: number; readonly gain: number } | undefined {
  const amount = demandOf(search.assignment.pool, unit);
  let best: { to: number; gain: number } | undefined;
  for (const to of hosts) {
    if (
      !search.thresholds.staysBelowMemoryHigh(to, amount) ||
      !search.accepts(to, unit)
    )
      continue;
    const gain = search.hasPreferences ? search.preferenceGain(to, unit) : 0;
    if (best === undefined || gain > best.gain) best = { to, gain };
    if (!search.hasPreferences) break;
  }
  return best;
}

function moveTo({ assignment }: BalanceSearch, vm: number, host: number): void {
  assignment.remove(vm);
  assignment.add(vm, host);
}
