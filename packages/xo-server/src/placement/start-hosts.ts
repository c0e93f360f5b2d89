import { Turns, type Inventory } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import type { Placement as Placed, PoolModel } from "@xo-server/placement";
import type { PoolObject, PoolObjects } from "../objects/pool-objects.js";
import type { Placement } from "./placement.js";
import { namesOf, refusalData } from "./refusal-words.js";

export interface StartHostsParts {
  readonly placement: Pick<Placement, "model" | "planner" | "rules">;
  readonly objects: PoolObjects;
  readonly inventory: Pick<Inventory, "catchUp">;
}

/**
 * On which host a VM starts. XAPI chooses, unless strict rules of ours say
 * something about the VM: XAPI does not know them.
 */
export class StartHosts {
  readonly #parts: StartHostsParts;
  /** Hosts of VMs that are starting, and may not show as running yet: the next choice counts them in. */
  readonly #starting = new Map<string, string>();
  readonly #turns = new Turns(1);

  constructor(parts: StartHostsParts) {
    this.#parts = parts;
  }

  /**
   * Starts a VM where it should be.
   * @param run gets the host; undefined: XAPI is to choose
   * @throws XoError NO_HOST_FOR_VM, as `refusals` and `conflict` of its data say; what the planner and `run` throw
   */
  async choose<T>(
    vm: PoolObject,
    signal: AbortSignal,
    run: (host: PoolObject | undefined) => Promise<T>,
  ): Promise<T> {
    if (!this.#isRuled(vm)) return run(undefined);
    const host = await this.#turns.take(() => this.#find(vm, signal));
    try {
      return await run(this.#parts.objects.get(host, "host"));
    } finally {
      void this.#settle(vm);
    }
  }

  /** @throws XoError HOST_AGAINST_RULES; what the planner throws */
  async check(
    vm: PoolObject,
    host: PoolObject,
    signal: AbortSignal,
  ): Promise<void> {
    if (!this.#isRuled(vm)) return;
    const { candidates } = await this.#place(vm, signal);
    const found = candidates.find((one) => one.host === host.id);
    const refusals = (found?.refusals ?? []).filter(
      ({ rule }) => rule === "location" || rule === "group",
    );
    if (refusals.length === 0) return;
    const reasons = namesOf(refusals);
    const data = { vm: vm.id, host: host.id, reasons, refusals };
    throw new XoError("HOST_AGAINST_RULES", data);
  }

  /** One that runs goes on where it is. */
  #isRuled({ id, object }: PoolObject): boolean {
    const { $pool, power_state, tags } = object;
    if (power_state !== "Halted" && power_state !== "Suspended") return false;
    const { rules } = this.#parts.placement;
    const all = Array.isArray(tags) ? (tags as string[]) : [];
    return rules.strictOf(String($pool), id, all).length > 0;
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

  /** It shows where it runs, or it does not run. */
  async #settle({ id }: PoolObject): Promise<void> {
    const { objects, inventory } = this.#parts;
    const connection = objects.connectionOf(id);
    if (connection !== undefined)
      await inventory.catchUp(connection).catch(() => undefined);
    this.#starting.delete(id);
  }
}
