import type { Layout } from "../layout/layout.js";
import { Chooser } from "../place/chooser.js";
import { decideHard, hostsIn } from "./decide.js";
import { countOptions } from "./dive.js";
import { Ejection } from "./ejection.js";
import { findFewestOut } from "./fewest-out.js";
import { placeAll } from "./greedy.js";
import { Packing } from "./packing.js";
import { inPlacingOrder, isBestEffort, type Unit } from "./placing-order.js";
import { findProof } from "./proofs.js";
import { toProblem, type Problem } from "./problem.js";
import { allRules } from "./rules-in-force.js";
import { toUnits } from "./units.js";

/** One way to place VMs. */
export interface Trial {
  readonly layout: Layout;
  readonly unplaced: readonly number[];
}

export interface Solved {
  readonly trial: Trial;
  /** It is proven that not all have a place. */
  readonly isProven: boolean;
}

/** Of no more VMs than these, who is left out is tried in turn. */
const MOST_TO_CHOOSE_FROM = 40;

/** More VMs than these are placed once more only, where it is proven that not all can be. */
const MOST_TO_PLACE_AGAIN = 5_000;
const PACK = ["pack"] as const;
const SPREAD_AND_PACK = ["spread", "pack"] as const;

/** Places some VMs as well as can be found: by passes, by chains of those that give way, by search. */
export class Stage {
  readonly #base: Layout;
  readonly #vms: readonly number[];
  readonly #budget: number;
  readonly #problem: Problem;
  /** Units that no host takes even alone. */
  readonly #hopeless: number;

  /** @param base has none of the VMs */
  constructor(base: Layout, vms: readonly number[], budget: number) {
    this.#base = base;
    this.#vms = vms;
    this.#budget = budget;
    this.#problem = toProblem(base, vms, allRules(base));
    this.#hopeless = countHopeless(this.#problem);
  }

  /** @param first has some of them; those of them that have to have a place keep one */
  solve(first: Layout): Solved {
    let best = this.#toTrial(first);
    if (best.unplaced.length === 0) return { trial: best, isProven: false };
    const isProven = findProof(new Packing(this.#problem)) !== undefined;
    if (best.unplaced.length > this.#hopeless)
      best = this.#tryMore(best, isProven);
    if (best.unplaced.length === 0) return { trial: best, isProven: false };
    if (isProven) return { trial: this.#leaveOutFewer(best), isProven };
    const decision = decideHard(this.#problem, this.#budget);
    const found =
      decision.holds === "yes" && this.#laidOut(hostsIn(decision.packing));
    if (found) return { trial: this.#toTrial(found), isProven: false };
    const trial = this.#leaveOutFewer(best);
    return { trial, isProven: decision.holds === "no" };
  }

  /** Passes with what has the fewest hosts first; then chains, from the best of all. */
  #tryMore(first: Trial, isProven: boolean): Trial {
    const options = this.#countOptions();
    const tightness = (unit: Unit) => options.get(unit[0]!) ?? 0;
    const order = inPlacingOrder(this.#base, this.#vms, tightness);
    let best = first;
    const isLong = isProven && this.#vms.length > MOST_TO_PLACE_AGAIN;
    for (const how of isLong ? PACK : SPREAD_AND_PACK) {
      const layout = this.#base.clone(how);
      placeAll(new Chooser(layout), layout, order);
      const trial = this.#toTrial(layout);
      if (this.#isBetter(trial, best)) best = trial;
      if (best.unplaced.length === 0) return best;
    }
    // Not all will have a place, whatever is tried.
    const budget = isProven ? this.#budget / 20 : this.#budget;
    return this.#eject(best, order, budget);
  }

  #eject(
    { layout: from }: Trial,
    order: readonly Unit[],
    budget: number,
  ): Trial {
    const layout = from.clone(this.#base.order);
    const isPlaced = (unit: Unit) =>
      unit.every((vm) => layout.hostOf[vm]! >= 0);
    const failed = order.filter((unit) => !isPlaced(unit));
    const chains = new Ejection(layout, order.filter(isPlaced), budget);
    for (const unit of failed)
      if (unit.every((vm) => layout.hostOf[vm]! < 0)) chains.place(unit);
    return this.#toTrial(layout);
  }

  /** Not all can be placed. */
  #leaveOutFewer(best: Trial): Trial {
    const isLeast = best.unplaced.length <= this.#hopeless;
    if (isLeast || this.#vms.length > MOST_TO_CHOOSE_FROM) return best;
    const units = inPlacingOrder(this.#base, this.#vms);
    const isLate = (vm: number) => isBestEffort(this.#base, vm);
    const canAll = best.unplaced.every(isLate);
    const hosts = findFewestOut(this.#base, {
      units,
      budget: this.#budget,
      below: best.unplaced.length,
      optional: canAll ? units.filter((unit) => unit.every(isLate)) : units,
    });
    const layout = hosts && this.#laidOut(hosts);
    const trial = layout && this.#toTrial(layout);
    return trial && this.#isBetter(trial, best) ? trial : best;
  }

  #isBetter(a: Trial, b: Trial): boolean {
    const late = (trial: Trial) =>
      trial.unplaced.filter((vm) => !isBestEffort(this.#base, vm)).length;
    const byMust = late(a) - late(b);
    if (byMust !== 0) return byMust < 0;
    return a.unplaced.length < b.unplaced.length;
  }

  #toTrial(layout: Layout): Trial {
    const unplaced = this.#vms.filter((vm) => layout.hostOf[vm]! < 0);
    return { layout, unplaced };
  }

  #countOptions(): Map<number, number> {
    const packing = new Packing(this.#problem);
    const options = new Map<number, number>();
    for (const [kind, { units }] of this.#problem.kinds.entries()) {
      const count = countOptions(packing, kind);
      for (const unit of units) options.set(unit[0]!, count);
    }
    return options;
  }

  /** @returns undefined: the rules do not agree, by the last digits of a sum */
  #laidOut(hosts: ReadonlyMap<number, number>): Layout | undefined {
    const layout = this.#base.clone();
    const chooser = new Chooser(layout);
    const vms = this.#vms.filter((vm) => hosts.has(vm));
    for (const unit of toUnits(layout.pool, vms)) {
      const host = hosts.get(unit[0]!)!;
      if (!chooser.allowsAll(unit, host)) return undefined;
      for (const vm of unit) layout.add(vm, host);
    }
    return layout;
  }
}

function countHopeless(problem: Problem): number {
  const packing = new Packing(problem);
  let count = 0;
  for (const [kind, { units }] of problem.kinds.entries())
    if (countOptions(packing, kind) === 0)
      count += units.reduce((sum, unit) => sum + unit.length, 0);
  return count;
}
