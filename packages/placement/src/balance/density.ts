import type { BalancePlan } from "../model/balance.js";
import { UP } from "../pool/indexed-pool.js";
import type { Balancing } from "./balancing.js";
import { amountOf } from "./bounds.js";

/** Hosts in a row that cannot be emptied, before the others are not looked at. */
const MOST_FAILURES = 16;

interface Target {
  readonly unit: readonly number[];
  readonly to: number;
}

/**
 * Empties hosts that have least to do, each wholly or not at all, onto others
 * that have VMs and stay below what is too much. To empty one gains 1.
 * @param spared hosts that keep their VMs
 */
export function emptyHosts(
  work: Balancing,
  spared: ReadonlySet<number>,
): BalancePlan["stopped"] {
  let isOverMost = false;
  for (let hasMoved = true; hasMoved;) {
    hasMoved = false;
    let failures = 0;
    for (const host of idlest(work)) {
      if (spared.has(host)) continue;
      const targets = findTargets(work, host);
      const count = work.countOn(host);
      if (targets !== undefined && count <= work.left) {
        for (const { unit, to } of targets) work.move(unit, to, "density");
        hasMoved = true;
        break;
      }
      isOverMost ||= targets !== undefined;
      if (++failures >= MOST_FAILURES) break;
    }
  }
  return isOverMost ? "most-moves" : "balanced";
}

/** Hosts that run VMs, those with least to do first. */
function idlest(work: Balancing): readonly number[] {
  const { layout, bounds } = work;
  const { pool } = layout;
  return [...pool.hosts.ids.keys()]
    .filter((host) => pool.hostState[host] === UP && work.countOn(host) > 0)
    .map((host) => ({
      host,
      share: Math.max(bounds.cpu(host), bounds.memory(host)),
    }))
    .sort((a, b) => a.share - b.share || a.host - b.host)
    .map(({ host }) => host);
}

/** Where all of a host would go; undefined: they cannot, or it costs too much. The layout is as before. */
function findTargets(
  work: Balancing,
  host: number,
): readonly Target[] | undefined {
  const units = work.unitsOn(host);
  const vms = units.flat();
  if (vms.length < work.countOn(host) || work.costOf(vms) >= 1)
    return undefined;
  const { pool } = work.layout;
  const sorted = units
    .map((unit) => ({ unit, memory: amountOf(pool, unit).memory }))
    .sort((a, b) => b.memory - a.memory || a.unit[0]! - b.unit[0]!);
  const others = idlest(work)
    .filter((other) => other !== host)
    .reverse();
  const targets: Target[] = [];
  let wish = 0;
  for (const { unit } of sorted) {
    const found = fullest(work, unit, others);
    if (found === undefined) break;
    wish += found.gain;
    for (const vm of unit) moveTo(work, vm, found.to);
    targets.push({ unit, to: found.to });
  }
  for (const { unit } of targets) for (const vm of unit) moveTo(work, vm, host);
  return targets.length === units.length && wish >= 0 ? targets : undefined;
}

/** The first of those that wishes like best. */
function fullest(
  work: Balancing,
  unit: readonly number[],
  hosts: readonly number[],
): { readonly to: number; readonly gain: number } | undefined {
  const amount = amountOf(work.layout.pool, unit);
  let best: { to: number; gain: number } | undefined;
  for (const to of hosts) {
    if (!work.bounds.staysUnfilled(to, amount) || !work.takes(to, unit))
      continue;
    const gain = work.hasWishes ? work.wishGain(to, unit) : 0;
    if (best === undefined || gain > best.gain) best = { to, gain };
    if (!work.hasWishes) break;
  }
  return best;
}

function moveTo({ layout }: Balancing, vm: number, host: number): void {
  layout.remove(vm);
  layout.add(vm, host);
}
