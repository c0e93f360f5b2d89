import type { HostAffinityModel } from "../model/pool-model.js";
import type { Action } from "../model/plan.js";
import {
  DISABLED,
  DOWN,
  indexPool,
  type IndexedPool,
} from "../pool/indexed-pool.js";

const STATE_NAMES = ["up", "disabled", "down"] as const;
/** Higher than any preference of a model. */
const PREFERENCE = 1e6;

/** Where VMs run, and which hosts are still to be taken down, between two waves. */
export class RollingState {
  readonly pool: IndexedPool;
  /** Numbers of hosts that are still to be taken down. */
  readonly pending: Set<number>;
  vmHost: Int32Array;

  constructor(pool: IndexedPool, hosts: readonly string[]) {
    this.pool = pool;
    this.pending = new Set(hosts.map((id) => pool.hosts.of(id)));
    this.vmHost = pool.vmHost.slice();
  }

  /** The pool as it is now, for an evacuation to hosts that are done. */
  toDoneHosts(leaving: ReadonlySet<number>): IndexedPool {
    const hostState = this.pool.hostState.slice();
    for (const host of this.pending)
      if (!leaving.has(host) && hostState[host] !== DOWN)
        hostState[host] = DISABLED;
    return { ...this.pool, hostState, vmHost: this.vmHost };
  }

  /** The same for an evacuation to any host; hosts that are done are preferred. */
  toAnyHost(leaving: ReadonlySet<number>): IndexedPool {
    const { pool, pending, vmHost } = this;
    const { ids } = pool.hosts;
    const done = ids.filter((_, host) => !pending.has(host));
    if (done.length === 0 || done.length === ids.length)
      return { ...pool, vmHost };
    const vms = [...vmHost.keys()].filter((vm) => leaving.has(vmHost[vm]!));
    const prefersDone: HostAffinityModel = {
      id: "already taken down",
      vms: vms.map((vm) => pool.vms.ids[vm]!),
      hosts: done,
      score: PREFERENCE,
    };
    const { hostAffinities = [] } = pool.model;
    const preferring = indexPool({
      ...pool.model,
      hosts: pool.hostModels.map((host, index) => ({
        ...host,
        state: STATE_NAMES[pool.hostState[index]!]!,
      })),
      hostAffinities: [...hostAffinities, prefersDone],
    });
    return { ...preferring, vmHost };
  }

  /** The pool as it would be after these actions, with hosts down. */
  afterwards(actions: readonly Action[], down: Iterable<number>): IndexedPool {
    const hostState = this.pool.hostState.slice();
    for (const host of down) hostState[host] = DOWN;
    return { ...this.pool, hostState, vmHost: this.#moved(actions) };
  }

  /** VMs have moved, and these hosts were taken down and are back. */
  complete(hosts: Iterable<number>, actions: readonly Action[]): void {
    this.vmHost = this.#moved(actions);
    for (const host of hosts) this.pending.delete(host);
  }

  isPending(host: string): boolean {
    return this.pending.has(this.pool.hosts.of(host));
  }

  #moved(actions: readonly Action[]): Int32Array {
    const { vms, hosts } = this.pool;
    const vmHost = this.vmHost.slice();
    for (const { vm, to } of actions) vmHost[vms.of(vm)] = hosts.of(to);
    return vmHost;
  }
}
