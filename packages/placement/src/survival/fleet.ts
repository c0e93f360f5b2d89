import { kindOf } from "../fit/vm-kinds.js";
import type { Layout } from "../layout/layout.js";
import { DOWN, UP } from "../pool/indexed-pool.js";

/** What hosts have and would leave behind if they died: all that sets of failures are judged by. */
export interface Fleet {
  readonly now: Layout;
  /** Hosts that can die: those that are not down. */
  readonly alive: readonly number[];
  /** Of each host, VMs there that have to restart, in the order in which they are placed. */
  readonly fallen: readonly (readonly number[])[];
  /** Bytes that each host's `fallen` need. */
  readonly demand: Float64Array;
  /** Bytes that each host has for others; 0 where it takes none. */
  readonly free: Float64Array;
  /** Of each VM that has to restart, a number; the same for those that no rule tells apart. */
  readonly kindOf: ReadonlyMap<number, number>;
  /** A VM of each kind. */
  readonly kinds: readonly number[];
}

export function toFleet(now: Layout): Fleet {
  const { pool } = now;
  const hosts = [...pool.hosts.ids.keys()];
  const fallen: number[][] = hosts.map(() => []);
  for (const [vm, host] of now.hostOf.entries())
    if (host >= 0 && pool.vmModels[vm]!.restart?.priority === "restart")
      fallen[host]!.push(vm);
  for (const vms of fallen)
    vms.sort((a, b) => pool.vmMemory[b]! - pool.vmMemory[a]! || a - b);
  const sumOf = (vms: readonly number[]) =>
    vms.reduce((sum, vm) => sum + pool.vmMemory[vm]!, 0);
  return {
    now,
    fallen,
    ...numberKinds(now, fallen.flat()),
    alive: hosts.filter((host) => pool.hostState[host] !== DOWN),
    demand: Float64Array.from(fallen, sumOf),
    free: Float64Array.from(hosts, (host) => freeOf(now, host)),
  };
}

function freeOf({ pool, limits, freeMemory }: Layout, host: number): number {
  const kept = (limits.memoryReserve ?? 0) * pool.hostMemory[host]!;
  return pool.hostState[host] === UP
    ? Math.max(0, freeMemory[host]! - kept)
    : 0;
}

function numberKinds(
  { pool }: Layout,
  vms: readonly number[],
): Pick<Fleet, "kindOf" | "kinds"> {
  // What binds a VM while it runs does not when its host is gone.
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

/** Strict groups of a VM of one sort. */
export function strictGroupsOf(
  { pool }: Layout,
  vm: number,
  sort: "apart" | "together",
): number[] {
  const { offsets, values } = pool.groups.groupsOf;
  const from = offsets[vm] ?? 0;
  const all = [...values.subarray(from, offsets[vm + 1] ?? from)];
  return all.filter((group) => {
    const { kind, strict } = pool.groups.models[group]!;
    return strict && kind === sort;
  });
}
