import type { Layout } from "../layout/layout.js";
import type { DeviceNeed } from "../pool/devices.js";
import type { IsActive } from "./units.js";
import { toUnits } from "./units.js";
import { toKinds } from "./vm-kinds.js";

/** Units that are alike in all that rules ask. */
export interface Kind {
  readonly units: readonly (readonly number[])[];
  /** Of one unit. */
  readonly memory: number;
  readonly vcpus: number;
  readonly devices: readonly DeviceNeed[];
  /** Strict "apart" groups, as `Problem` numbers them. */
  readonly apart: readonly number[];
}

/** What is to be placed and where it may go, as numbers and nothing else: what proofs and searches work on. */
export interface Problem {
  readonly kinds: readonly Kind[];
  readonly hosts: number;
  /** `kind * hosts + host`: 1 where nothing but room and what else is placed can be in the way. */
  readonly allowed: Uint8Array;
  /** Free on each host, with what rounding is forgiven; Infinity where the rule is left out. */
  readonly memory: Float64Array;
  readonly vcpus: Float64Array;
  /** `device kind * hosts + host`. */
  readonly devices: Float64Array;
  readonly apartGroups: number;
}

/** Which rules hold. */
export interface ActiveRules {
  readonly memory: boolean;
  readonly vcpus: boolean;
  /** By number. */
  readonly device: (kind: number) => boolean;
  readonly group: IsActive;
  /** Whether a host refuses a VM before anything is placed. */
  readonly refuses: (vm: number, host: number) => boolean;
}

/** What sums of many numbers that are no whole ones are forgiven: as the rules forgive. */
const ROUNDING = 1e-6;

/** @param layout has none of the VMs */
export function toProblem(
  layout: Layout,
  vms: readonly number[],
  rules: ActiveRules,
): Problem {
  const { pool } = layout;
  const groups = new Map<number, number>();
  const units = toUnits(pool, vms, rules.group);
  const kinds = toKinds(pool, units).map((alike) =>
    toKind(layout, alike, rules, groups),
  );
  const hosts = pool.hosts.size;
  const allowed = new Uint8Array(kinds.length * hosts);
  for (const [number, kind] of kinds.entries())
    if (new Set(kind.apart).size === kind.apart.length)
      for (let host = 0; host < hosts; host++)
        if (!kind.units[0]!.some((vm) => rules.refuses(vm, host)))
          allowed[number * hosts + host] = 1;
  return {
    ...{ kinds, hosts, allowed, apartGroups: groups.size },
    ...toFree(layout, rules),
  };
}

function toFree(
  { pool, limits, ...free }: Layout,
  rules: ActiveRules,
): Pick<Problem, "memory" | "vcpus" | "devices"> {
  const hosts = pool.hosts.size;
  const { memoryReserve = 0, vcpusPerCore = Infinity } = limits;
  return {
    memory: free.freeMemory.map((bytes, host) =>
      rules.memory
        ? bytes - memoryReserve * pool.hostMemory[host]! + ROUNDING
        : Infinity,
    ),
    vcpus: free.vcpus.map((used, host) =>
      rules.vcpus && vcpusPerCore !== Infinity
        ? vcpusPerCore * pool.hostCores[host]! - used + ROUNDING
        : Infinity,
    ),
    devices: free.freeDevices.map((count, at) =>
      rules.device(Math.floor(at / hosts)) ? count : Infinity,
    ),
  };
}

function toKind(
  { pool }: Layout,
  units: readonly (readonly number[])[],
  rules: ActiveRules,
  numbers: Map<number, number>,
): Kind {
  const { groupsOf, models } = pool.groups;
  const apart: number[] = [];
  const needs = new Map<number, number>();
  let memory = 0;
  let vcpus = 0;
  for (const vm of units[0]!) {
    memory += pool.vmMemory[vm]!;
    vcpus += pool.vmVcpus[vm]!;
    for (const { kind, count } of pool.devices.ofVms.get(vm) ?? [])
      needs.set(kind, (needs.get(kind) ?? 0) + count);
    const end = groupsOf.offsets[vm + 1] ?? 0;
    for (let at = groupsOf.offsets[vm] ?? 0; at < end; at++) {
      const group = groupsOf.values[at]!;
      const { kind, strict } = models[group]!;
      if (!strict || kind !== "apart" || !rules.group(group)) continue;
      if (!numbers.has(group)) numbers.set(group, numbers.size);
      apart.push(numbers.get(group)!);
    }
  }
  const devices = [...needs].map(([kind, count]) => ({ kind, count }));
  return { units, memory, vcpus, devices, apart };
}
