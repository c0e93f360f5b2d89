import { decide } from "../solver/decide.js";
import { toProblem } from "../solver/problem.js";
import type { Assignment } from "../assignment/assignment.js";
import type { Refusals } from "./refusals.js";

/** Number of checks whether a VM fits on a host that cost as much as one step of a search. */
const CHECKS_PER_STEP = 64;

/** Decides whether all VMs could be placed if only some of the rules held. */
export class FeasibilityOracle {
  readonly #assignment: Assignment;
  readonly #vms: readonly number[];
  readonly #refusals: Refusals;
  #budget: number;

  constructor(
    assignment: Assignment,
    vms: readonly number[],
    { refusals, budget }: { refusals: Refusals; budget: number },
  ) {
    this.#assignment = assignment;
    this.#vms = vms;
    this.#refusals = refusals;
    this.#budget = budget;
  }

  /**
   * Whether all VMs could be placed if only these rules held; each call uses up a part of the budget.
   * @param rules numbers of constraints
   * @returns unknown: the budget is used up
   */
  isFeasible(rules: Iterable<number>): "yes" | "no" | "unknown" {
    const { hosts } = this.#assignment.pool;
    if (this.#budget <= 0) return "unknown";
    const problem = this.#problem(new Set(rules));
    const rows = problem.kinds.length + hosts.size;
    const checks = rows * hosts.size + this.#vms.length;
    const cost = checks / CHECKS_PER_STEP;
    this.#budget -= Math.ceil(cost);
    const { isFeasible: holds, budget } = decide(
      problem,
      Math.max(0, this.#budget),
    );
    this.#budget = Math.min(this.#budget, budget);
    return holds;
  }

  #problem(rules: ReadonlySet<number>) {
    const { constraints } = this.#refusals;
    const { groups, devices } = this.#assignment.pool;
    const has = (...of: Parameters<typeof constraints.find>) => {
      const constraint = constraints.find(...of);
      return constraint !== undefined && rules.has(constraint);
    };
    // Capacity is counted during placement; other refusals are fixed.
    const fixed = [...rules].filter(
      (constraint) => !constraints.isCapacity(constraint),
    );
    return toProblem(this.#assignment, this.#vms, {
      memory: has("memory"),
      vcpus: has("vcpus"),
      device: (kind) => has("device", devices.kinds[kind]),
      group: (group) => has("group", groups.models[group]!.id),
      refuses: (vm, host) =>
        fixed.length > 0 &&
        fixed.some((constraint) =>
          this.#refusals.of(vm, host).includes(constraint),
        ),
    });
  }
}
