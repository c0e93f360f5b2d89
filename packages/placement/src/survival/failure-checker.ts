import { assignVms } from "../solver/assign.js";
import { QuickCheck } from "./quick-check.js";
import type { FailureModel } from "./failure-model.js";

type Verdict = "survives" | "fails" | "unknown";

/** Maximum number of sets that are planned when the quick check fails. */
const MAX_PLANS = 500;

/**
 * Decides for sets of hosts whether all VMs that must restart can, when these
 * hosts fail.
 */
export class FailureChecker {
  readonly #model: FailureModel;
  readonly #quick: QuickCheck;
  readonly #budget: number | undefined;
  #plans = 0;

  /** @param budget of each plan; absent: the default of `assignVms` */
  constructor(model: FailureModel, budget: number | undefined) {
    this.#model = model;
    this.#quick = new QuickCheck(model);
    this.#budget = budget;
  }

  check(failed: readonly number[]): Verdict {
    if (this.lacksMemory(failed)) return "fails";
    if (this.#quick.survives(failed)) return "survives";
    if (this.#plans++ >= MAX_PLANS) return "unknown";
    const assignment = this.#model.now.withHostsDown(failed);
    const { unplaced, isProven } = assignVms(
      assignment,
      this.#restarting(failed),
      this.#budget,
    );
    if (unplaced.length === 0) return "survives";
    return isProven ? "fails" : "unknown";
  }

  /** Whether the VMs to restart need more memory than is free. */
  lacksMemory(failed: readonly number[]): boolean {
    const { demand, free } = this.#model;
    const isOut = new Set(failed);
    const needed = failed.reduce((sum, host) => sum + demand[host]!, 0);
    const there = free.reduce(
      (sum, bytes, host) => (isOut.has(host) ? sum : sum + bytes),
      0,
    );
    return needed > there + 1 + needed * 1e-12;
  }

  get isSpent(): boolean {
    return this.#plans >= MAX_PLANS;
  }

  get checks(): number {
    return this.#quick.checks;
  }

  #restarting(failed: readonly number[]): number[] {
    const vms = failed.flatMap((host) => this.#model.restarting[host]!);
    return vms.sort((a, b) => a - b);
  }
}
