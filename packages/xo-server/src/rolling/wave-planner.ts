import type { Inventory } from "@xo-server/inventory";
import type {
  PoolModel,
  RollingPlan,
  RollingRequest,
  VmModel,
} from "@xo-server/placement";
import type { PoolObjects } from "../objects/pool-objects.js";
import { withoutMember } from "../placement/without-member.js";
import type { PlacementService } from "../placement/placement-service.js";

interface WavePlannerParts {
  readonly placement: Pick<PlacementService, "model" | "planner" | "rules">;
  readonly objects: Pick<PoolObjects, "connectionOf">;
  readonly inventory: Pick<Inventory, "catchUp">;
}

/** The VMs of the hosts, as far as XAPI has reported them. */
interface KnownVms {
  /** VMs that cannot be migrated: XAPI's error codes by the id of the VM. */
  readonly pinned: ReadonlyMap<string, string>;
  /** Ids of VMs that will not be running. */
  readonly without: ReadonlySet<string>;
}

/** Plans which hosts of a pool are taken down next, from its current state. */
export class WavePlanner {
  readonly #parts: WavePlannerParts;

  constructor(parts: WavePlannerParts) {
    this.#parts = parts;
  }

  /** Whether the pool has placement rules, which XAPI does not know. */
  hasRules(pool: string): boolean {
    return this.#parts.placement.rules.list(pool).length > 0;
  }

  /** @throws XoError ABORTED, CALL_TIMEOUT, QUEUE_FULL, INTERNAL */
  async plan(
    pool: string,
    request: RollingRequest,
    known: KnownVms,
    signal: AbortSignal,
  ): Promise<RollingPlan> {
    const { placement, objects, inventory } = this.#parts;
    const connection = objects.connectionOf(pool);
    if (connection !== undefined) await inventory.catchUp(connection);
    const model = withKnown(await placement.model(pool), request.hosts, known);
    return placement.planner.rolling(model, request, {}, { signal });
  }
}

/**
 * Replaces the pinned VMs of the hosts by those that XAPI has reported, because it
 * knows more than the mirror.
 */
function withKnown(
  model: PoolModel,
  hosts: readonly string[],
  { pinned, without }: KnownVms,
): PoolModel {
  const leaving = new Set(hosts);
  const vms = model.vms.map((vm): VmModel => {
    if (vm.host === undefined) return vm;
    if (without.has(vm.id)) return withoutMember(vm, "host");
    if (!leaving.has(vm.host)) return vm;
    const reason = pinned.get(vm.id);
    const free = withoutMember(vm, "pinned");
    return reason === undefined ? free : { ...free, pinned: reason };
  });
  return { ...model, vms };
}
