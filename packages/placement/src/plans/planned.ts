import type { Layout } from "../layout/layout.js";
import type { Plan } from "../model/plan.js";
import type { IndexedPool } from "../pool/indexed-pool.js";

/** A plan, the pool that it is for, and who runs where once it is done: what is needed to mend it. */
export interface Planned {
  readonly pool: IndexedPool;
  readonly plan: Plan;
  /** Nobody changes it. */
  readonly layout: Layout;
}
