import { decide } from "../fit/decide.js";
import { toProblem } from "../fit/problem.js";
import type { Layout } from "../layout/layout.js";
import type { Refusals } from "./refusals.js";

/** Looks at a VM on a host that cost as much as one step of a search. */
const LOOKS_PER_STEP = 64;

/** Whether VMs could all be placed if only some rules held. */
export class Oracle {
  readonly #layout: Layout;
  readonly #vms: readonly number[];
  readonly #refusals: Refusals;
  #budget: number;

  constructor(
    layout: Layout,
    vms: readonly number[],
    { refusals, budget }: { refusals: Refusals; budget: number },
  ) {
    this.#layout = layout;
    this.#vms = vms;
    this.#refusals = refusals;
    this.#budget = budget;
  }

  /** @param rules numbers of atoms */
  ask(rules: Iterable<number>): "yes" | "no" | "unknown" {
    const { hosts } = this.#layout.pool;
    if (this.#budget <= 0) return "unknown";
    const problem = this.#problem(new Set(rules));
    const rows = problem.kinds.length + hosts.size;
    const looks = rows * hosts.size + this.#vms.length;
    const cost = looks / LOOKS_PER_STEP;
    this.#budget -= Math.ceil(cost);
    const { holds, budget } = decide(problem, Math.max(0, this.#budget));
    this.#budget = Math.min(this.#budget, budget);
    return holds;
  }

  #problem(rules: ReadonlySet<number>) {
    const { atoms } = this.#refusals;
    const { groups, devices } = this.#layout.pool;
    const has = (...of: Parameters<typeof atoms.find>) => {
      const atom = atoms.find(...of);
      return atom !== undefined && rules.has(atom);
    };
    // Room is counted as VMs are placed; what is fixed is looked up.
    const fixed = [...rules].filter((atom) => !atoms.isRoom(atom));
    return toProblem(this.#layout, this.#vms, {
      memory: has("memory"),
      vcpus: has("vcpus"),
      device: (kind) => has("device", devices.kinds[kind]),
      group: (group) => has("group", groups.models[group]!.id),
      refuses: (vm, host) =>
        fixed.length > 0 &&
        fixed.some((atom) => this.#refusals.of(vm, host).includes(atom)),
    });
  }
}
