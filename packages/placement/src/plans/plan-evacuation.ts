import { fit } from "../fit/fit.js";
import { Layout } from "../layout/layout.js";
import type { Plan } from "../model/plan.js";
import { RoomMaker } from "../moves/make-room.js";
import type { Wanted } from "../moves/move.js";
import { movedBetween, toMovePlan } from "../moves/to-plan.js";
import { DISABLED, UP, type IndexedPool } from "../pool/indexed-pool.js";
import type { PlanOptions } from "./options.js";

/**
 * Where the VMs go that run on hosts which are to be empty. Others move only
 * where that makes room for VMs that have no place else.
 * @throws InvalidModel for a host that the pool does not have
 */
export function planEvacuation(
  given: IndexedPool,
  hosts: readonly string[],
  options: PlanOptions = {},
): Plan {
  const pool = closed(given, hosts);
  const now = Layout.now(pool, options);
  const then = now.clone();
  const leaving = takeOut(then, new Set(hosts.map((id) => pool.hosts.of(id))));
  const found = fit(then, leaving, options);
  const homeless = partedFrom(then, found.unplaced, found.placed);
  for (const vm of homeless) if (then.hostOf[vm]! >= 0) then.remove(vm);
  const maker = new RoomMaker(then, () => true);
  const units = inUnits(then, homeless);
  const failed = units.filter((unit) => maker.place(unit) === undefined).flat();
  const isProven = !units.every((unit) => maker.isThinkable(unit));
  return {
    ...toMovePlan(
      now,
      inOrder(now, then, [...found.placed, ...homeless]),
      failed,
    ),
    isProven,
    ...(failed.length > 0 && found.conflict && { conflict: found.conflict }),
  };
}

/** Nothing comes to these hosts. */
function closed(pool: IndexedPool, hosts: readonly string[]): IndexedPool {
  const hostState = pool.hostState.slice();
  for (const id of hosts) {
    const host = pool.hosts.of(id);
    if (hostState[host] === UP) hostState[host] = DISABLED;
  }
  return { ...pool, hostState };
}

/** @returns the VMs that ran there, which run nowhere now */
function takeOut(layout: Layout, hosts: ReadonlySet<number>): number[] {
  const out: number[] = [];
  for (const [vm, host] of layout.hostOf.entries())
    if (hosts.has(host)) out.push(vm);
  for (const vm of out) layout.remove(vm);
  return out;
}

/** VMs without a place, and those that have one without which they may not go. */
function partedFrom(
  { pool }: Layout,
  unplaced: readonly number[],
  placed: readonly number[],
): readonly number[] {
  if (unplaced.length === 0) return [];
  const unitOf = (vm: number) => pool.groups.unitOf[vm] ?? vm;
  const units = new Set(unplaced.map(unitOf));
  return [...unplaced, ...placed.filter((vm) => units.has(unitOf(vm)))];
}

function inUnits(
  { pool }: Layout,
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

/** Those that make room first, then as they were placed. */
function inOrder(
  now: Layout,
  then: Layout,
  leaving: readonly number[],
): readonly Wanted[] {
  const rank = new Map(leaving.map((vm, index) => [vm, index]));
  const wanted = movedBetween(now, then, (vm) =>
    rank.has(vm) ? "evacuate" : "make-room",
  );
  const rankOf = ({ vm }: Wanted) => rank.get(vm) ?? -1;
  return wanted.sort((a, b) => rankOf(a) - rankOf(b) || a.vm - b.vm);
}
