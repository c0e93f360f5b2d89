import type { Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Conflict, Plan, PoolModel, Unplaced } from "@xo-server/placement";
import type { Clock } from "../clock.js";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { applyPlan } from "./apply-plan.js";
import type { Placement } from "./placement.js";

export interface EvacuationParts {
  readonly placement: Pick<Placement, "model" | "planner" | "rules">;
  readonly objects: PoolObjects;
  readonly inventory: Pick<Inventory, "catchUp">;
  readonly clock: Clock;
}

export interface EvacuationCall {
  readonly work: TaskContext;
  readonly signal: AbortSignal;
}

/** Where the guests of one host are to go. */
export interface HostLeave {
  /** Ids of VMs that have a place. */
  readonly placed: ReadonlySet<string>;
  /** VMs that certainly have none, or none that rules allow. */
  readonly stuck: readonly Unplaced[];
  readonly conflict?: Conflict | undefined;
  /** XAPI, that does not know all that the plan does, would do worse. */
  readonly isNeeded: boolean;
  /**
   * Moves them as planned.
   * @throws XoError STOPPED_MIDWAY, ABORTED
   */
  run(call: EvacuationCall, network?: PoolObject): Promise<void>;
}

/** Plans by which hosts are emptied. */
export class Evacuations {
  readonly #parts: EvacuationParts;

  constructor(parts: EvacuationParts) {
    this.#parts = parts;
  }

  /**
   * For each host as if it alone were to be empty.
   * @param hosts of one pool
   * @param without VMs that will not run any more
   * @returns by host; undefined: nobody could plan, and the work was told why
   * @throws XoError ABORTED
   */
  async plans(
    hosts: readonly PoolObject[],
    call: EvacuationCall,
    without: ReadonlySet<string> = new Set(),
  ): Promise<ReadonlyMap<string, HostLeave> | undefined> {
    const [first] = hosts;
    if (first === undefined) return new Map();
    const pool = String(first.object["$pool"]);
    const { planner, rules } = this.#parts.placement;
    const hasRules = rules.list(pool).length > 0;
    try {
      const model = await this.#model(pool, hosts, without);
      const leaves = new Map<string, HostLeave>();
      for (const { id } of hosts) {
        const { signal } = call;
        const plan = await planner.evacuation(model, [id], {}, { signal });
        leaves.set(id, this.#toLeave(plan, hasRules));
      }
      return leaves;
    } catch (error) {
      if (error instanceof XoError && error.code === "ABORTED") throw error;
      const { message } = error as Error;
      call.work.warn(`XAPI places VMs by itself: ${message}`);
      return undefined;
    }
  }

  /** As the pool is now. Whether a guest of these hosts can move at all, XAPI has been asked. */
  async #model(
    pool: string,
    hosts: readonly PoolObject[],
    without: ReadonlySet<string>,
  ): Promise<PoolModel> {
    const { placement, objects, inventory } = this.#parts;
    const connection = objects.connectionOf(pool);
    if (connection !== undefined) await inventory.catchUp(connection);
    const model = await placement.model(pool);
    const ids = new Set(hosts.map(({ id }) => id));
    const vms = model.vms.map((vm) => {
      if (without.has(vm.id)) return withoutMember(vm, "host");
      const isGuest = vm.host !== undefined && ids.has(vm.host);
      return isGuest ? withoutMember(vm, "pinned") : vm;
    });
    return { ...model, vms };
  }

  #toLeave(plan: Plan, hasRules: boolean): HostLeave {
    const { actions, unplaced, isProven, conflict } = plan;
    const { objects, clock } = this.#parts;
    return {
      placed: new Set(actions.map(({ vm }) => vm)),
      stuck: isProven || hasRules ? unplaced : [],
      conflict,
      isNeeded:
        unplaced.length === 0 &&
        (hasRules || actions.some(({ purpose }) => purpose === "make-room")),
      async run({ work, signal }, network) {
        const options = { objects, clock, work, signal, network };
        await applyPlan(actions, options);
      },
    };
  }
}

function withoutMember<T extends object, K extends keyof T>(
  from: T,
  name: K,
): Omit<T, K> {
  const rest: Partial<T> = { ...from };
  delete rest[name];
  return rest as Omit<T, K>;
}
