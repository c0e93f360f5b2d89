import type { Assignment } from "../assignment/assignment.js";
import type { Move, TargetMove } from "./move.js";
import { MoveSequence } from "./move-sequence.js";

/**
 * Maximum number of rounds; each leaves out the VMs that could not reach their
 * target.
 */
const MAX_ROUNDS = 16;

interface OrderedMoves {
  /** Each is possible when all before it are done. */
  readonly moves: readonly Move[];
  /** VMs that stay because their target cannot be reached. */
  readonly unreachable: readonly number[];
  readonly result: Assignment;
}

/**
 * Orders moves. Cycles are broken via a third host; where none is available,
 * these VMs stay, together with the VMs that must share a host with them.
 * @param now the assignment before; not changed
 * @param requested each VM once, in order of preference; VMs that are on their
 *   target already are skipped
 */
export function orderMoves(
  now: Assignment,
  requested: readonly TargetMove[],
): OrderedMoves {
  let rest = requested.filter(({ vm, to }) => now.hostOf[vm] !== to);
  const left: number[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const after = now.clone();
    const sequence = new MoveSequence(after, rest);
    const { moves, waiting, detoured } = sequence;
    const stuck = withUnits(now, waiting, rest);
    left.push(...stuck);
    const isDone =
      stuck.length === waiting.length &&
      waiting.every((vm) => !detoured.has(vm));
    if (isDone) return { moves, unreachable: left, result: after };
    const isStuck = new Set(stuck);
    rest = rest.filter(({ vm }) => !isStuck.has(vm));
  }
  const none = rest.map(({ vm }) => vm);
  return { moves: [], unreachable: [...left, ...none], result: now.clone() };
}

/** These VMs and all others of their units that were to move. */
function withUnits(
  { pool }: Assignment,
  vms: readonly number[],
  requested: readonly TargetMove[],
): readonly number[] {
  if (vms.length === 0) return [];
  const units = new Set(vms.map((vm) => unitOf(pool.groups.unitOf, vm)));
  return requested
    .map(({ vm }) => vm)
    .filter((vm) => units.has(unitOf(pool.groups.unitOf, vm)));
}

/** VMs added after indexing are a unit of their own. */
function unitOf(units: Int32Array, vm: number): number {
  return units[vm] ?? vm;
}
