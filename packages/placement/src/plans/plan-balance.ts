import { Balancing } from "../balance/balancing.js";
import { emptyHosts } from "../balance/density.js";
import { figuresOf } from "../balance/figures.js";
import { toMayMove } from "../balance/movable.js";
import { Relief } from "../balance/relief.js";
import { Layout } from "../layout/layout.js";
import type { BalancePlan, BalancePolicy } from "../model/balance.js";
import type { Purpose } from "../model/plan.js";
import type { Move } from "../moves/move.js";
import { orderMoves } from "../moves/order-moves.js";
import { toActions } from "../moves/to-actions.js";
import { movedBetween } from "../moves/to-plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { Improvement } from "../repair/improve.js";
import { Repair } from "../repair/repair.js";

/** What one kind of move betters may let another follow; so often all are looked at. */
const MOST_ROUNDS = 4;

/**
 * Moves that mend breaches, where the policy says so, relieve hosts that have
 * too much to do, and empty hosts that can be spared. Planned again once it is
 * done, with the same loads, there is nothing to do, but for what `mostMoves`
 * has put off.
 */
export function planBalance(
  pool: IndexedPool,
  policy: BalancePolicy,
): BalancePlan {
  const { limits = {} } = policy;
  const now = Layout.now(pool, { limits });
  const { moves, after, stopped } = balance(now, policy);
  const figuresBefore = figuresOf(now);
  const figuresAfter = figuresOf(after);
  const isEmptied = (host: number) =>
    figuresBefore[host]!.vms > 0 && figuresAfter[host]!.vms === 0;
  return {
    figuresBefore,
    figuresAfter,
    stopped,
    actions: toActions(now, moves),
    unplaced: [],
    isProven: false,
    emptied:
      policy.goal === "density"
        ? pool.hosts.ids.filter((_, host) => isEmptied(host))
        : [],
  };
}

interface Balanced {
  readonly moves: readonly Move[];
  readonly after: Layout;
  readonly stopped: BalancePlan["stopped"];
}

/** A host that was emptied and had to help another after all is not emptied in the first place. */
function balance(now: Layout, policy: BalancePolicy): Balanced {
  const spared = new Set<number>();
  for (;;) {
    const balanced = balanceBut(now, policy, spared);
    const { moves, after } = balanced;
    const used = new Set(after.hostOf);
    const inVain = moves.filter(
      ({ from, purpose }) => purpose === "density" && used.has(from),
    );
    if (inVain.every(({ from }) => spared.has(from))) return balanced;
    for (const { from } of inVain) spared.add(from);
  }
}

/** @param spared hosts that are not emptied */
function balanceBut(
  now: Layout,
  policy: BalancePolicy,
  spared: ReadonlySet<number>,
): Balanced {
  const moves: Move[] = [];
  let layout = now.clone();
  let stopped: BalancePlan["stopped"] = "balanced";
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = moves.length;
    if (policy.repairs) {
      const repaired = repair(layout, policy, policy.mostMoves - moves.length);
      layout = repaired.after;
      moves.push(...repaired.moves);
    }
    const work = new Balancing(layout, policy, policy.mostMoves - moves.length);
    stopped = new Relief(work).run();
    if (policy.goal === "density")
      stopped = worse(stopped, emptyHosts(work, spared));
    moves.push(...work.moves);
    if (moves.length === before) break;
  }
  return { ...direct(now, moves, layout), stopped };
}

/** Repairs that can be done in so many moves, stop-overs among them. */
function repair(
  layout: Layout,
  policy: BalancePolicy,
  mostMoves: number,
): Pick<Balanced, "moves" | "after"> {
  const mayMove = toMayMove(layout.pool, policy.excluded);
  for (let most = mostMoves; most > 0; most >>= 1) {
    const then = layout.clone();
    const strict = new Repair(then, { mayMove, most });
    strict.run();
    new Improvement(then, { mayMove, most: strict.left }).run();
    const wanted = movedBetween(layout, then, (vm) => strict.purposeOf(vm));
    const { moves, after } = orderMoves(layout, wanted);
    if (moves.length <= mostMoves) return { moves, after };
  }
  return { moves: [], after: layout };
}

/** A VM that moves more than once goes straight to where it ends, if there is a way. */
function direct(
  now: Layout,
  moves: readonly Move[],
  after: Layout,
): Pick<Balanced, "moves" | "after"> {
  const purposes = new Map<number, Purpose>();
  for (const { vm, purpose } of moves)
    if (!purposes.has(vm) || purpose === "balance") purposes.set(vm, purpose);
  if (purposes.size === moves.length) return { moves, after };
  const wanted = movedBetween(now, after, (vm) => purposes.get(vm)!);
  const ordered = orderMoves(now, wanted);
  const isWorse =
    ordered.left.length > 0 || ordered.moves.length > moves.length;
  return isWorse ? { moves, after } : ordered;
}

function worse(
  a: BalancePlan["stopped"],
  b: BalancePlan["stopped"],
): BalancePlan["stopped"] {
  const order = ["balanced", "no-better", "most-moves"] as const;
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
