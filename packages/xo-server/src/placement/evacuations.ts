import type { WallClock } from "@xo-server/kit";
import type { Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Conflict, Plan, PoolModel, Unplaced } from "@xo-server/placement";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { TaskContext } from "../tasks/task-context.js";
import { applyPlan } from "./apply-plan.js";
import { withoutMember } from "./without-member.js";
import type { PlacementService } from "./placement-service.js";

interface EvacuationParts {
  readonly placement: Pick<PlacementService, "model" | "planner" | "rules">;
  readonly objects: PoolObjects;
  readonly inventory: Pick<Inventory, "catchUp">;
  readonly clock: WallClock;
}

interface EvacuationCall {
  readonly work: TaskContext;
  readonly signal: AbortSignal;
}

/** Plan for the evacuation of one host. */
export interface HostEvacuationPlan {
  /** Ids of VMs that have a target. */
  readonly placed: ReadonlySet<string>;
  /** VMs that provably cannot be evacuated, or cannot be because of placement rules. */
  readonly stuck: readonly Unplaced[];
  readonly conflict?: Conflict | undefined;
  /**
   * XAPI's own evacuation would not follow the plan, because it does not know our
   * rules, or because other VMs must be migrated first.
   */
  readonly isNeeded: boolean;
  /**
   * Executes the plan.
   * @throws XoError STOPPED_MIDWAY, ABORTED
   */
  run(call: EvacuationCall, network?: PoolObject): Promise<void>;
}

/** Plans the evacuation of hosts. */
export class EvacuationPlanner {
  readonly #parts: EvacuationParts;

  constructor(parts: EvacuationParts) {
    this.#parts = parts;
  }

  /**
   * Plans the evacuation of each host as if it were the only one.
   * @param hosts hosts of one pool
   * @param without ids of VMs that will not be running
   * @returns plans by host id; undefined: planning failed, a warning was added to
   * the task
   * @throws XoError ABORTED
   */
  async plans(
    hosts: readonly PoolObject[],
    call: EvacuationCall,
    without: ReadonlySet<string> = new Set(),
  ): Promise<ReadonlyMap<string, HostEvacuationPlan> | undefined> {
    const [first] = hosts;
    if (first === undefined) return new Map();
    const pool = String(first.object["$pool"]);
    const { planner, rules } = this.#parts.placement;
    const hasRules = rules.list(pool).length > 0;
    try {
      const model = await this.#model(pool, hosts, without);
      const leaves = new Map<string, HostEvacuationPlan>();
      for (const { id } of hosts) {
        const { signal } = call;
        const plan = await planner.evacuation(model, [id], {}, { signal });
        leaves.set(id, this.#toLeave(plan, hasRules));
      }
      return leaves;
    } catch (error) {
      if (error instanceof XoError && error.code === "ABORTED") throw error;
      const { message } = error as Error;
      call.work.warn(`no evacuation plan, XAPI chooses the hosts: ${message}`);
      return undefined;
    }
  }

  /**
   * The current model. `pinned` is removed from VMs of these hosts: XAPI has
   * reported whether they can be migrated.
   */
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

  #toLeave(plan: Plan, hasRules: boolean): HostEvacuationPlan {
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
