import { Semaphore, type Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { VmPlacement as Placed, PoolModel } from "@xo-server/placement";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { PlacementService } from "./placement-service.js";
import { ruleNames, refusalData } from "./refusal-summary.js";

interface StartHostSelectorParts {
  readonly placement: Pick<PlacementService, "model" | "planner" | "rules">;
  readonly objects: PoolObjects;
  readonly inventory: Pick<Inventory, "catchUp">;
}

/**
 * Selects the host on which a VM starts. XAPI selects unless required placement
 * rules apply to the VM, which XAPI does not know.
 */
export class StartHostSelector {
  readonly #parts: StartHostSelectorParts;
  /**
   * Hosts of VMs that are being started and may not be running in the mirror
   * yet; the next selection counts them.
   */
  readonly #starting = new Map<string, string>();
  readonly #turns = new Semaphore(1);

  constructor(parts: StartHostSelectorParts) {
    this.#parts = parts;
  }

  /**
   * Starts a VM on the host selected for it.
   * @param run is called with the host; undefined: XAPI selects
   * @throws XoError NO_HOST_FOR_VM with `refusals` and `conflict`; errors of
   *   the planner and of `run`
   */
  async choose<T>(
    vm: PoolObject,
    signal: AbortSignal,
    run: (host: PoolObject | undefined) => Promise<T>,
  ): Promise<T> {
    if (!this.#hasRequiredRules(vm)) return run(undefined);
    const host = await this.#turns.run(() => this.#find(vm, signal));
    try {
      return await run(this.#parts.objects.get(host, "host"));
    } finally {
      void this.#releaseWhenVisible(vm);
    }
  }

  /** @throws XoError HOST_AGAINST_RULES; errors of the planner */
  async check(
    vm: PoolObject,
    host: PoolObject,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.#hasRequiredRules(vm)) return;
    const { candidates } = await this.#place(vm, signal);
    const found = candidates.find((one) => one.host === host.id);
    const refusals = (found?.refusals ?? []).filter(
      ({ rule }) => rule === "host-affinity" || rule === "group",
    );
    if (refusals.length === 0) return;
    const reasons = ruleNames(refusals);
    const data = { vm: vm.id, host: host.id, reasons, refusals };
    throw new XoError("HOST_AGAINST_RULES", data);
  }

  /** Whether required rules apply to a VM that is not running. */
  #hasRequiredRules({ id, object }: PoolObject): boolean {
    const { $pool, power_state, tags } = object;
    if (power_state !== "Halted" && power_state !== "Suspended") return false;
    const { rules } = this.#parts.placement;
    const all = Array.isArray(tags) ? (tags as string[]) : [];
    return rules.requiredRulesOf(String($pool), id, all).length > 0;
  }

  async #find(vm: PoolObject, signal: AbortSignal): Promise<string> {
    const placed = await this.#place(vm, signal);
    const { host } = placed;
    if (host === undefined)
      throw new XoError("NO_HOST_FOR_VM", refusalData(placed));
    this.#starting.set(vm.id, host);
    return host;
  }

  async #place(vm: PoolObject, signal: AbortSignal): Promise<Placed> {
    const { placement } = this.#parts;
    const model = await placement.model(String(vm.object["$pool"]));
    const counted = this.#withStarting(model, vm.id);
    return placement.planner.place(counted, vm.id, {}, { signal });
  }

  #withStarting(model: PoolModel, but: string): PoolModel {
    if (this.#starting.size === 0) return model;
    const vms = model.vms.map((vm) => {
      const host = this.#starting.get(vm.id);
      return host === undefined || vm.id === but || vm.host !== undefined
        ? vm
        : { ...vm, host };
    });
    return { ...model, vms };
  }

  /** Keeps the VM counted until the mirror has the outcome of the start. */
  async #releaseWhenVisible({ id }: PoolObject): Promise<void> {
    const { objects, inventory } = this.#parts;
    const connection = objects.connectionOf(id);
    if (connection !== undefined)
      // The pool is disconnected and the state of the VM unknown: it is no longer counted.
      await inventory.catchUp(connection).catch(() => undefined);
    this.#starting.delete(id);
  }
}
