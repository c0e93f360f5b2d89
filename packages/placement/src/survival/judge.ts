import { fit } from "../fit/fit.js";
import { QuickCheck } from "./quick-check.js";
import type { Fleet } from "./fleet.js";

export type Verdict = "survives" | "fails" | "unknown";

/** So many sets may be planned where the first look does not find a way. */
const MOST_PLANS = 500;

/** Says of sets of hosts whether all that has to restart can, if they die. */
export class Judge {
  readonly #fleet: Fleet;
  readonly #quick: QuickCheck;
  readonly #budget: number | undefined;
  #plans = 0;

  /** @param budget of each plan; absent: as `fit` */
  constructor(fleet: Fleet, budget: number | undefined) {
    this.#fleet = fleet;
    this.#quick = new QuickCheck(fleet);
    this.#budget = budget;
  }

  judge(failed: readonly number[]): Verdict {
    if (this.lacksMemory(failed)) return "fails";
    if (this.#quick.survives(failed)) return "survives";
    if (this.#plans++ >= MOST_PLANS) return "unknown";
    const layout = this.#fleet.now.withHostsOut(failed);
    const { unplaced, isProven } = fit(layout, this.#fallen(failed), {
      explains: false,
      ...(this.#budget !== undefined && { budget: this.#budget }),
    });
    if (unplaced.length === 0) return "survives";
    return isProven ? "fails" : "unknown";
  }

  /** More memory has to restart than there is. */
  lacksMemory(failed: readonly number[]): boolean {
    const { demand, free } = this.#fleet;
    const isOut = new Set(failed);
    const needed = failed.reduce((sum, host) => sum + demand[host]!, 0);
    const there = free.reduce(
      (sum, bytes, host) => (isOut.has(host) ? sum : sum + bytes),
      0,
    );
    return needed > there + 1 + needed * 1e-12;
  }

  get isSpent(): boolean {
    return this.#plans >= MOST_PLANS;
  }

  get looks(): number {
    return this.#quick.looks;
  }

  #fallen(failed: readonly number[]): number[] {
    const vms = failed.flatMap((host) => this.#fleet.fallen[host]!);
    return vms.sort((a, b) => a - b);
  }
}
