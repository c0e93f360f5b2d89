import type { Assignment } from "../assignment/assignment.js";
import type { HostRule } from "./host-rule.js";

/** Tolerance for sums of non-integers. */
const ROUNDING = 1e-6;

function missingMemory(
  { pool, limits, freeMemory }: Assignment,
  vm: number,
  host: number,
): number {
  const kept = (limits.memoryReserve ?? 0) * pool.hostMemory[host]!;
  return pool.vmMemory[vm]! - (freeMemory[host]! - kept);
}

/** No overcommit of memory. */
export const memory: HostRule = {
  name: "memory",
  allows: (assignment, vm, host) =>
    missingMemory(assignment, vm, host) <= ROUNDING,
  explain: (assignment, vm, host) => {
    const missing = missingMemory(assignment, vm, host);
    return missing > ROUNDING
      ? [{ rule: "memory", missing: Math.ceil(missing) }]
      : [];
  },
};

function missingVcpus(
  { pool, limits, vcpus }: Assignment,
  vm: number,
  host: number,
): number {
  const most = (limits.vcpusPerCore ?? Infinity) * pool.hostCores[host]!;
  return pool.vmVcpus[vm]! + vcpus[host]! - most;
}

export const vcpus: HostRule = {
  name: "vcpus",
  isRelevant: ({ limits }) => limits.vcpusPerCore !== undefined,
  allows: (assignment, vm, host) =>
    missingVcpus(assignment, vm, host) <= ROUNDING,
  explain: (assignment, vm, host) => {
    const missing = missingVcpus(assignment, vm, host);
    return missing > ROUNDING
      ? [{ rule: "vcpus", missing: Math.ceil(missing) }]
      : [];
  },
};

/** GPUs, SR-IOV functions and similar devices. */
export const devices: HostRule = {
  name: "device",
  isRelevant: ({ pool }) => pool.devices.ofVms.size > 0,
  allows: (assignment, vm, host) =>
    missingDevices(assignment, vm, host).length === 0,
  explain: (assignment, vm, host) =>
    missingDevices(assignment, vm, host).map(({ kind, missing }) => ({
      rule: "device",
      missing,
      kind: assignment.pool.devices.kinds[kind]!,
    })),
};

function missingDevices(
  { pool, freeDevices }: Assignment,
  vm: number,
  host: number,
) {
  const needs = pool.devices.ofVms.get(vm) ?? [];
  return needs
    .map(({ kind, count }) => ({
      kind,
      missing: count - freeDevices[kind * pool.hosts.size + host]!,
    }))
    .filter(({ missing }) => missing > 0);
}
