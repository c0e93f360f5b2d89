import type { Layout } from "../layout/layout.js";
import type { DeviceNeed } from "../pool/devices.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { toUnits, type IsActive } from "./units.js";
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
    kinds,
    hosts,
    allowed,
    apartGroups: groups.size,
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
  const [unit] = units;
  const groups = unit!.flatMap((vm) => apartGroupsOf(pool, vm));
  const apart = groups.filter(rules.group).map((group) => {
    if (!numbers.has(group)) numbers.set(group, numbers.size);
    return numbers.get(group)!;
  });
  const sumOf = (amounts: Float64Array) =>
    unit!.reduce((sum, vm) => sum + amounts[vm]!, 0);
  return {
    units,
    apart,
    devices: toNeeds(pool, unit!),
    memory: sumOf(pool.vmMemory),
    vcpus: sumOf(pool.vmVcpus),
  };
}

function apartGroupsOf({ groups }: IndexedPool, vm: number): number[] {
  const { offsets, values } = groups.groupsOf;
  const found: number[] = [];
  const end = offsets[vm + 1] ?? 0;
  for (let at = offsets[vm] ?? 0; at < end; at++) {
    const { kind, strict } = groups.models[values[at]!]!;
    if (strict && kind === "apart") found.push(values[at]!);
  }
  return found;
}

function toNeeds(
  { devices }: IndexedPool,
  unit: readonly number[],
): DeviceNeed[] {
  const needs = new Map<number, number>();
  for (const vm of unit)
    for (const { kind, count } of devices.ofVms.get(vm) ?? [])
      needs.set(kind, (needs.get(kind) ?? 0) + count);
  return [...needs].map(([kind, count]) => ({ kind, count }));
}
