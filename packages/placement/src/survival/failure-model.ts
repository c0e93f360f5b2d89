import { kindOf } from "../solver/vm-kinds.js";
import type { Assignment } from "../assignment/assignment.js";
import { DOWN, UP } from "../pool/indexed-pool.js";

/** Capacity of hosts and the VMs that each would leave to restart. */
export interface FailureModel {
  readonly now: Assignment;
  /** Hosts that can fail: those that are not down. */
  readonly alive: readonly number[];
  /** For each host, its VMs that must restart, in order of placement. */
  readonly restarting: readonly (readonly number[])[];
  /** Total bytes of each host's `restarting`. */
  readonly demand: Float64Array;
  /** Bytes that each host has for others; 0 when it accepts none. */
  readonly free: Float64Array;
  /**
   * For each VM that must restart, the number of its kind; VMs of one kind are
   * interchangeable.
   */
  readonly kindOf: ReadonlyMap<number, number>;
  /** One VM of each kind. */
  readonly kinds: readonly number[];
}

/**
 * Reads from an assignment what simulations of failures need. VMs with the HA
 * restart priority `restart` must restart, the largest first.
 */
export function toFailureModel(now: Assignment): FailureModel {
  const { pool } = now;
  const hosts = [...pool.hosts.ids.keys()];
  const restarting: number[][] = hosts.map(() => []);
  for (const [vm, host] of now.hostOf.entries())
    if (host >= 0 && pool.vmModels[vm]!.restart?.priority === "restart")
      restarting[host]!.push(vm);
  for (const vms of restarting)
    vms.sort((a, b) => pool.vmMemory[b]! - pool.vmMemory[a]! || a - b);
  const sumOf = (vms: readonly number[]) =>
    vms.reduce((sum, vm) => sum + pool.vmMemory[vm]!, 0);
  return {
    now,
    restarting,
    ...numberKinds(now, restarting.flat()),
    alive: hosts.filter((host) => pool.hostState[host] !== DOWN),
    demand: Float64Array.from(restarting, sumOf),
    free: Float64Array.from(hosts, (host) => freeOf(now, host)),
  };
}

function freeOf(
  { pool, limits, freeMemory }: Assignment,
  host: number,
): number {
  const kept = (limits.memoryReserve ?? 0) * pool.hostMemory[host]!;
  return pool.hostState[host] === UP
    ? Math.max(0, freeMemory[host]! - kept)
    : 0;
}

function numberKinds(
  { pool }: Assignment,
  vms: readonly number[],
): Pick<FailureModel, "kindOf" | "kinds"> {
  // Restrictions of migration do not apply to VMs of a failed host.
  const hostState = pool.hostState.slice().fill(DOWN);
  const numbers = new Map<string, number>();
  const ofVms = new Map<number, number>();
  const kinds: number[] = [];
  for (const vm of vms) {
    const key = kindOf({ ...pool, hostState }, vm);
    const known = numbers.get(key) ?? kinds.push(vm) - 1;
    numbers.set(key, known);
    ofVms.set(vm, known);
  }
  return { kindOf: ofVms, kinds };
}

/** Required groups of a VM, of one kind. */
export function requiredGroupsOf(
  { pool }: Assignment,
  vm: number,
  sort: "anti-affinity" | "affinity",
): number[] {
  const { offsets, values } = pool.groups.groupsOf;
  const from = offsets[vm] ?? 0;
  const all = [...values.subarray(from, offsets[vm + 1] ?? from)];
  return all.filter((group) => {
    const { kind, required } = pool.groups.models[group]!;
    return required && kind === sort;
  });
}
