import { XoError } from "@xo-server/model";
import type { Store } from "@xo-server/store";
import type { RollingPlan } from "./rolling-plan.js";

export type PlanStore = Pick<Store["settings"], "get" | "set" | "delete">;

const keyOf = (pool: string) => `rolling-reboot/${pool}`;

/** Running and interrupted plans of pools: stored until they are complete. */
export class RollingPlans {
  readonly #store: PlanStore;
  readonly #running = new Set<string>();

  constructor(store: PlanStore) {
    this.#store = store;
  }

  /**
   * One at a time of each pool.
   * @throws XoError INCORRECT_STATE: there is one going on here
   */
  async alone<T>(pool: string, run: () => Promise<T>): Promise<T> {
    if (this.#running.has(pool)) throw busy(pool);
    this.#running.add(pool);
    try {
      return await run();
    } finally {
      this.#running.delete(pool);
    }
  }

  /**
   * What was left of the last one.
   * @param takeOver also a run without a recorded end: its server has stopped
   * @throws XoError INCORRECT_STATE: another server does it, or has died of it
   */
  left(
    pool: string,
    { takeOver }: { readonly takeOver: boolean },
  ): RollingPlan | undefined {
    const plan = this.#store.get(keyOf(pool)) as RollingPlan | undefined;
    if (plan !== undefined && plan.stopped === undefined && !takeOver)
      throw busy(pool, plan);
    return plan;
  }

  /** When the one began that has neither come to its end nor stopped, in ms since the epoch: also one whose server has died. */
  underWaySince(pool: string): number | undefined {
    const plan = this.#store.get(keyOf(pool)) as RollingPlan | undefined;
    return plan?.stopped === undefined ? plan?.since : undefined;
  }

  keep(plan: RollingPlan): Promise<void> {
    return this.#store.set(keyOf(plan.pool), plan);
  }

  forget(pool: string): Promise<void> {
    return this.#store.delete(keyOf(pool));
  }
}

function busy(pool: string, plan?: RollingPlan): XoError {
  return new XoError("INCORRECT_STATE", {
    object: pool,
    property: "rolling reboot",
    expected: "none",
    ...(plan === undefined
      ? { actual: "going on" }
      : {
          actual: `in progress since ${new Date(plan.since).toISOString()}; with resume: true, it is taken over from a server that no longer runs`,
        }),
  });
}
