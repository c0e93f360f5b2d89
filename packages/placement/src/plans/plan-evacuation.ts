import { assignAndExplain } from "../conflict/assign-and-explain.js";
import { Assignment } from "../assignment/assignment.js";
import type { Plan } from "../model/plan.js";
import { Displacement } from "../moves/displacement.js";
import type { TargetMove } from "../moves/move.js";
import { movedBetween, toMovePlan } from "../moves/to-plan.js";
import { DISABLED, UP, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";

/**
 * Plans the evacuation of hosts. Other VMs move only to make room for VMs that
 * have no other host.
 * @throws InvalidModel for an unknown host
 */
export function planEvacuation(
  original: IndexedPool,
  hosts: readonly string[],
  options: PlanOptions = {},
): Plan {
  const pool = closed(original, hosts);
  const now = Assignment.current(pool, options);
  const then = now.clone();
  const leaving = removeVmsOf(
    then,
    new Set(hosts.map((id) => pool.hosts.of(id))),
  );
  const found = assignAndExplain(then, leaving, options);
  const unassigned = withUnitMembers(then, found.unplaced, found.placed);
  for (const vm of unassigned) if (then.hostOf[vm]! >= 0) then.remove(vm);
  const displacement = new Displacement(then, () => true);
  const units = inUnits(then, unassigned);
  const failed = units
    .filter((unit) => displacement.place(unit) === undefined)
    .flat();
  const isProven = !units.every((unit) => displacement.couldHost(unit));
  return {
    ...toMovePlan(
      now,
      inOrder(now, then, [...found.placed, ...unassigned]),
      failed,
    ),
    isProven,
    ...(failed.length > 0 && found.conflict && { conflict: found.conflict }),
  };
}

/** The hosts accept no VMs. */
function closed(pool: IndexedPool, hosts: readonly string[]): IndexedPool {
  const hostState = pool.hostState.slice();
  for (const id of hosts) {
    const host = pool.hosts.of(id);
    if (hostState[host] === UP) hostState[host] = DISABLED;
  }
  return { ...pool, hostState };
}

/** @returns the VMs of these hosts, now unassigned */
function removeVmsOf(
  assignment: Assignment,
  hosts: ReadonlySet<number>,
): number[] {
  const out: number[] = [];
  for (const [vm, host] of assignment.hostOf.entries())
    if (hosts.has(host)) out.push(vm);
  for (const vm of out) assignment.remove(vm);
  return out;
}

/** Unplaced VMs, and placed ones that must share a host with them. */
function withUnitMembers(
  { pool }: Assignment,
  unplaced: readonly number[],
  placed: readonly number[],
): readonly number[] {
  if (unplaced.length === 0) return [];
  const unitOf = (vm: number) => pool.groups.unitOf[vm] ?? vm;
  const units = new Set(unplaced.map(unitOf));
  return [...unplaced, ...placed.filter((vm) => units.has(unitOf(vm)))];
}

function inUnits(
  { pool }: Assignment,
  vms: readonly number[],
): readonly (readonly number[])[] {
  const units = new Map<number, number[]>();
  for (const vm of vms) {
    const unit = pool.groups.unitOf[vm] ?? vm;
    const members = units.get(unit);
    if (members === undefined) units.set(unit, [vm]);
    else members.push(vm);
  }
  return [...units.values()];
}

/** Displaced VMs first, then in order of placement. */
function inOrder(
  now: Assignment,
  then: Assignment,
  leaving: readonly number[],
): readonly TargetMove[] {
  const rank = new Map(leaving.map((vm, index) => [vm, index]));
  const requested = movedBetween(now, then, (vm) =>
    rank.has(vm) ? "evacuate" : "make-room",
  );
  const rankOf = ({ vm }: TargetMove) => rank.get(vm) ?? -1;
  return requested.sort((a, b) => rankOf(a) - rankOf(b) || a.vm - b.vm);
}
