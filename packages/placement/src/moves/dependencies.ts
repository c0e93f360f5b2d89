import type { Assignment } from "../assignment/assignment.js";
import type { Move } from "./move.js";
import { orderAntiAffinity } from "./order-anti-affinity.js";
import { shareCapacity } from "./share-capacity.js";
import { withoutImplied } from "./transitive-reduction.js";

/** For each move, the indices of the moves that must end before it begins. */
type Dependencies = readonly (readonly number[])[];

/**
 * Dependencies between moves. Moves may overlap in any way that the
 * dependencies allow without violating a rule.
 *
 * Capacity: each arriving VM gets its own part of what is free or is freed by
 * VMs that leave. Anti-affinity: a member arrives after the members on that
 * host have left. A VM's next move begins after its previous one.
 * @param now the assignment before the first move
 * @param moves each is possible when all before it are done
 */
export function dependenciesOf(
  now: Assignment,
  moves: readonly Move[],
): Dependencies {
  const found = moves.map(() => new Set<number>());
  const last = new Map<number, number>();
  for (const [index, { vm }] of moves.entries()) {
    const before = last.get(vm);
    if (before !== undefined) found[index]!.add(before);
    last.set(vm, index);
  }
  const link = (index: number, before: number) => found[index]!.add(before);
  shareCapacity(now, moves, link);
  orderAntiAffinity(now, moves, link);
  const out: number[][] = [];
  for (const set of found)
    out.push(
      withoutImplied(
        [...set].sort((a, b) => a - b),
        out,
      ),
    );
  return out;
}
