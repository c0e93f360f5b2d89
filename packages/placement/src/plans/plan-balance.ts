import { BalanceSearch } from "../balance/balance-search.js";
import { consolidateHosts } from "../balance/consolidation.js";
import { figuresOf } from "../balance/utilization.js";
import { toMayMove } from "../balance/movable.js";
import { explainOverload } from "../balance/staying-vms.js";
import { OverloadRelief } from "../balance/relief.js";
import { Assignment } from "../assignment/assignment.js";
import type { BalancePlan, BalancePolicy } from "../model/balance.js";
import type { Purpose } from "../model/plan.js";
import type { Move } from "../moves/move.js";
import { orderMoves } from "../moves/order-moves.js";
import { toActions } from "../moves/to-actions.js";
import { movedBetween } from "../moves/to-plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { PreferenceImprovement } from "../repair/preference-improvement.js";
import { RuleRepair } from "../repair/rule-repair.js";

/** One phase can enable moves of another; limit of repetitions. */
const MAX_ROUNDS = 4;

/**
 * Corrects rule violations (if the policy says so), relieves overloaded hosts,
 * and evacuates hosts that are not needed. Planning again after the plan is
 * executed, with the same loads, yields no actions, unless `maxMigrations`
 * limited the first plan.
 */
export function planBalance(
  pool: IndexedPool,
  policy: BalancePolicy,
): BalancePlan {
  const { limits = {} } = policy;
  const now = Assignment.current(pool, { limits });
  const { moves, result, stopped } = balance(now, policy);
  const figuresBefore = figuresOf(now);
  const figuresAfter = figuresOf(result);
  const isEmptied = (host: number) =>
    figuresBefore[host]!.vms > 0 && figuresAfter[host]!.vms === 0;
  return {
    figuresBefore,
    figuresAfter,
    stopped,
    overloaded:
      stopped === "no-beneficial-migration"
        ? explainOverload(new BalanceSearch(result, policy, 1))
        : [],
    actions: toActions(now, moves),
    unplaced: [],
    isProven: false,
    emptied:
      policy.goal === "consolidate"
        ? pool.hosts.ids.filter((_, host) => isEmptied(host))
        : [],
  };
}

interface Balanced {
  readonly moves: readonly Move[];
  readonly result: Assignment;
  readonly stopped: BalancePlan["stopped"];
}

/** Repeats without evacuating hosts that received VMs again afterwards. */
function balance(now: Assignment, policy: BalancePolicy): Balanced {
  const spared = new Set<number>();
  for (;;) {
    const balanced = balanceExcept(now, policy, spared);
    const { moves, result } = balanced;
    const used = new Set(result.hostOf);
    const inVain = moves.filter(
      ({ from, purpose }) => purpose === "consolidate" && used.has(from),
    );
    if (inVain.every(({ from }) => spared.has(from))) return balanced;
    for (const { from } of inVain) spared.add(from);
  }
}

/** @param spared hosts that are not evacuated */
function balanceExcept(
  now: Assignment,
  policy: BalancePolicy,
  spared: ReadonlySet<number>,
): Balanced {
  const moves: Move[] = [];
  let assignment = now.clone();
  let stopped: BalancePlan["stopped"] = "balanced";
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = moves.length;
    if (policy.enforceRules) {
      const repaired = repair(
        assignment,
        policy,
        policy.maxMigrations - moves.length,
      );
      assignment = repaired.result;
      moves.push(...repaired.moves);
    }
    const work = new BalanceSearch(
      assignment,
      policy,
      policy.maxMigrations - moves.length,
    );
    stopped = new OverloadRelief(work).run();
    if (policy.goal === "consolidate")
      stopped = worse(stopped, consolidateHosts(work, spared));
    moves.push(...work.moves);
    if (moves.length === before) break;
  }
  return { ...direct(now, moves, assignment), stopped };
}

/**
 * Corrections that fit into the maximum number of moves, including moves via
 * third hosts.
 */
function repair(
  assignment: Assignment,
  policy: BalancePolicy,
  maxMoves: number,
): Pick<Balanced, "moves" | "result"> {
  const mayMove = toMayMove(assignment.pool, policy.excluded);
  for (let most = maxMoves; most > 0; most >>= 1) {
    const then = assignment.clone();
    const repair = new RuleRepair(then, { mayMove, maxMoves: most });
    repair.run();
    new PreferenceImprovement(then, {
      mayMove,
      maxMoves: repair.movesLeft,
    }).run();
    const requested = movedBetween(assignment, then, (vm) =>
      repair.purposeOf(vm),
    );
    const { moves, result } = orderMoves(assignment, requested);
    if (moves.length <= maxMoves) return { moves, result };
  }
  return { moves: [], result: assignment };
}

/** Replaces several moves of a VM by one direct move, if possible. */
function direct(
  now: Assignment,
  moves: readonly Move[],
  result: Assignment,
): Pick<Balanced, "moves" | "result"> {
  const purposes = new Map<number, Purpose>();
  for (const { vm, purpose } of moves)
    if (!purposes.has(vm) || purpose === "balance") purposes.set(vm, purpose);
  if (purposes.size === moves.length) return { moves, result };
  const requested = movedBetween(now, result, (vm) => purposes.get(vm)!);
  const ordered = orderMoves(now, requested);
  const isWorse =
    ordered.unreachable.length > 0 || ordered.moves.length > moves.length;
  return isWorse ? { moves, result } : ordered;
}

function worse(
  a: BalancePlan["stopped"],
  b: BalancePlan["stopped"],
): BalancePlan["stopped"] {
  const order = [
    "balanced",
    "no-beneficial-migration",
    "max-migrations",
  ] as const;
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
