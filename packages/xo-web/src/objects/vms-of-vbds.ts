import { provide, shallowReactive, type InjectionKey } from "vue";
import { isObject } from "@xo-server/kit";
import type { Call } from "../api/server-connection.js";
import { injectRequired } from "../injection.js";

const MAX_KNOWN = 5_000;
const MAX_IDS_PER_CALL = 1_000;

/**
 * Ids of VMs by the ids of their VBDs, which say which VM uses a disk. The VM of a
 * VBD never changes: each is requested once. Above MAX_KNOWN the oldest are evicted.
 */
export class VmsOfVbds {
  readonly #call: Call;
  readonly #vms = shallowReactive(new Map<string, string>());
  /** For the next request. */
  #pending = new Set<string>();

  constructor(call: Call) {
    this.#call = call;
  }

  /** @returns undefined: not known yet, or the user may not see it */
  vmOf(vbd: string): string | undefined {
    return this.#vms.get(vbd);
  }

  /** VMs that are requested in the same turn of the event loop are one call. */
  request(vbds: readonly string[]): void {
    const isFirst = this.#pending.size === 0;
    for (const vbd of vbds) if (!this.#vms.has(vbd)) this.#pending.add(vbd);
    if (isFirst && this.#pending.size > 0)
      setTimeout(() => {
        const pending = [...this.#pending];
        this.#pending = new Set();
        void this.#read(pending);
      });
  }

  async #read(ids: readonly string[]): Promise<void> {
    const found = await readVmsOfVbds(this.#call, ids);
    for (const [vbd, vm] of found) this.#vms.set(vbd, vm);
    for (const oldest of this.#vms.keys()) {
      if (this.#vms.size <= MAX_KNOWN) break;
      this.#vms.delete(oldest);
    }
  }
}

/** Those that cannot be read are left out. */
export async function readVmsOfVbds(
  call: Call,
  vbds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const vms = new Map<string, string>();
  for (let from = 0; from < vbds.length; from += MAX_IDS_PER_CALL) {
    const ids = vbds.slice(from, from + MAX_IDS_PER_CALL);
    const answer = await call("query.page", {
      type: "VBD",
      ids,
      fields: ["id", "VM"],
      limit: ids.length,
      // Without an answer the VMs of these disks are not shown.
    }).catch(() => null);
    const rows = isObject(answer) ? answer["rows"] : undefined;
    for (const row of Array.isArray(rows) ? rows : []) {
      const { id, VM } = isObject(row) ? row : {};
      if (typeof id === "string" && typeof VM === "string") vms.set(id, VM);
    }
  }
  return vms;
}

const key: InjectionKey<VmsOfVbds> = Symbol("VMs of VBDs");

/** To be called in the root component. */
export function provideVmsOfVbds(call: Call): void {
  provide(key, new VmsOfVbds(call));
}

export function useVmsOfVbds(): VmsOfVbds {
  return injectRequired(key);
}
