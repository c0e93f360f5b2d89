import type { Assignment } from "../assignment/assignment.js";
import type { DeviceNeed } from "../pool/devices.js";
import type { IndexedPool } from "../pool/indexed-pool.js";
import { toUnits, type IsActive } from "./units.js";
import { toKinds } from "./vm-kinds.js";

/** Interchangeable units: no rule distinguishes them. */
interface UnitKind {
  readonly units: readonly (readonly number[])[];
  /** Demand of one unit. */
  readonly memory: number;
  readonly vcpus: number;
  readonly devices: readonly DeviceNeed[];
  /** Required anti-affinity groups, by their number in the problem. */
  readonly antiAffinity: readonly number[];
}

/**
 * The units to place and the hosts that may run them, as numbers only. Input of
 * proofs and searches.
 */
export interface PackingProblem {
  readonly kinds: readonly UnitKind[];
  readonly hosts: number;
  /**
   * At `kind * hosts + host`: 1 when only capacity and other placements can
   * exclude the host.
   */
  readonly allowed: Uint8Array;
  /**
   * Free amount on each host plus the tolerance; Infinity when the rule is
   * inactive.
   */
  readonly memory: Float64Array;
  readonly vcpus: Float64Array;
  /** At `device kind * hosts + host`. */
  readonly devices: Float64Array;
  readonly antiAffinityGroups: number;
}

/** The subset of rules that holds. Conflict analysis deactivates some. */
export interface ActiveRules {
  readonly memory: boolean;
  readonly vcpus: boolean;
  /** By number. */
  readonly device: (kind: number) => boolean;
  readonly group: IsActive;
  /** Whether the host refuses the VM before anything is placed. */
  readonly refuses: (vm: number, host: number) => boolean;
}

/** Tolerance for sums of non-integers, as in the rules. */
const ROUNDING = 1e-6;

/** @param assignment has none of the VMs */
export function toProblem(
  assignment: Assignment,
  vms: readonly number[],
  rules: ActiveRules,
): PackingProblem {
  const { pool } = assignment;
  const groups = new Map<number, number>();
  const units = toUnits(pool, vms, rules.group);
  const kinds = toKinds(pool, units).map((alike) =>
    toKind(assignment, alike, rules, groups),
  );
  const hosts = pool.hosts.size;
  const allowed = new Uint8Array(kinds.length * hosts);
  for (const [number, kind] of kinds.entries())
    if (new Set(kind.antiAffinity).size === kind.antiAffinity.length)
      for (let host = 0; host < hosts; host++)
        if (!kind.units[0]!.some((vm) => rules.refuses(vm, host)))
          allowed[number * hosts + host] = 1;
  return {
    kinds,
    hosts,
    allowed,
    antiAffinityGroups: groups.size,
    ...toFree(assignment, rules),
  };
}

function toFree(
  { pool, limits, ...free }: Assignment,
  rules: ActiveRules,
): Pick<PackingProblem, "memory" | "vcpus" | "devices"> {
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
  { pool }: Assignment,
  units: readonly (readonly number[])[],
  rules: ActiveRules,
  numbers: Map<number, number>,
): UnitKind {
  const [unit] = units;
  const groups = unit!.flatMap((vm) => antiAffinityGroupsOf(pool, vm));
  const antiAffinity = groups.filter(rules.group).map((group) => {
    if (!numbers.has(group)) numbers.set(group, numbers.size);
    return numbers.get(group)!;
  });
  const sumOf = (amounts: Float64Array) =>
    unit!.reduce((sum, vm) => sum + amounts[vm]!, 0);
  return {
    units,
    antiAffinity,
    devices: toNeeds(pool, unit!),
    memory: sumOf(pool.vmMemory),
    vcpus: sumOf(pool.vmVcpus),
  };
}

function antiAffinityGroupsOf({ groups }: IndexedPool, vm: number): number[] {
  const { offsets, values } = groups.groupsOf;
  const found: number[] = [];
  const end = offsets[vm + 1] ?? 0;
  for (let at = offsets[vm] ?? 0; at < end; at++) {
    const { kind, required } = groups.models[values[at]!]!;
    if (required && kind === "anti-affinity") found.push(values[at]!);
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
