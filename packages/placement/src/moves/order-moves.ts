import type { Layout } from "../layout/layout.js";
import type { Move, Wanted } from "./move.js";
import { Sequence } from "./sequence.js";

/** So often are moves put in order anew without those that are in a knot. */
const MOST_ROUNDS = 16;

export interface Ordered {
  /** Each can be done when those before it have been. */
  readonly moves: readonly Move[];
  /** VMs that stay where they are, as there is no way to where they should go. */
  readonly left: readonly number[];
  readonly after: Layout;
}

/**
 * In which order VMs can go where they should. Cycles are broken by a
 * stop-over on a third host; where there is none, those VMs are left, and with
 * them any that have to be on one host with them.
 * @param now as it is before; not changed
 * @param wanted each VM once, in the order that is best; a VM that is there already is passed over
 */
export function orderMoves(now: Layout, wanted: readonly Wanted[]): Ordered {
  let rest = wanted.filter(({ vm, to }) => now.hostOf[vm] !== to);
  const left: number[] = [];
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const after = now.clone();
    const sequence = new Sequence(after, rest);
    const { moves, waiting, strayed } = sequence;
    const stuck = withUnits(now, waiting, rest);
    left.push(...stuck);
    const isDone =
      stuck.length === waiting.length &&
      waiting.every((vm) => !strayed.has(vm));
    if (isDone) return { moves, left, after };
    const isStuck = new Set(stuck);
    rest = rest.filter(({ vm }) => !isStuck.has(vm));
  }
  const none = rest.map(({ vm }) => vm);
  return { moves: [], left: [...left, ...none], after: now.clone() };
}

/** Those VMs, and all others that were to move and have to be on one host with one of them. */
function withUnits(
  { pool }: Layout,
  vms: readonly number[],
  wanted: readonly Wanted[],
): readonly number[] {
  if (vms.length === 0) return [];
  const units = new Set(vms.map((vm) => unitOf(pool.groups.unitOf, vm)));
  return wanted
    .map(({ vm }) => vm)
    .filter((vm) => units.has(unitOf(pool.groups.unitOf, vm)));
}

/** A VM that is newer than the groups is alone. */
function unitOf(units: Int32Array, vm: number): number {
  return units[vm] ?? vm;
}
